import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { cleanUpAfterFile } from './clean-up.ts';
import { closeServer } from './close-server.ts';
import { until } from './until.ts';

type Value = string | number | boolean | undefined;
type Attributes = Readonly<Record<string, Value>>;

/** A span as read by an OTLP receiver. Times are in epoch milliseconds. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | undefined;
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly time: number; readonly attributes: Attributes }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string; readonly attributes: Attributes }[];
  readonly status: { readonly code: number; readonly message: string };
  readonly scope: string;
  readonly resource: Attributes;
}

/** An OTLP receiver that stores the spans it receives. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** All bytes received so far. Tests search them for strings that must not be exported. */
  readonly bytes: Buffer[];
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** Responds to an export. A test can replace it. */
  respond: (response: ServerResponse) => void;
  /** Resolves with the first span for which the condition is true. */
  span(condition: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan>;
  close(): Promise<void>;
}

/** Starts an OTLP receiver (HTTP with protobuf) and closes it after the last test in the file. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('error', () => undefined);
    request.on('end', () => {
      receiver.requests.push({ path: request.url ?? '', headers: request.headers });
      const sent = Buffer.concat(parts);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      receiver.bytes.push(body);
      receiver.spans.push(...decodeExport(body));
      receiver.respond(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    bytes: [],
    requests: [],
    respond: (response) => response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end(),
    async span(condition) {
      await until(() => receiver.spans.some(condition));
      return receiver.spans.find(condition) as ReceivedSpan;
    },
    close: () => closeServer(server),
  };
  cleanUpAfterFile(receiver.close);
  return receiver;
}

/** A protobuf message: the values for each field number, in order. */
class Message {
  readonly #fields = new Map<number, (bigint | Buffer)[]>();

  constructor(bytes: Buffer) {
    let at = 0;
    const varint = () => {
      let value = 0n;
      for (let shift = 0n; ; shift += 7n) {
        const byte = bytes.readUInt8(at++);
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
    };
    const take = (length: number) => {
      if (at + length > bytes.length) throw new RangeError('the message is truncated');
      return bytes.subarray(at, (at += length));
    };
    while (at < bytes.length) {
      const tag = Number(varint());
      const wire = tag & 7;
      const value = wire === 0 ? varint() : take(wire === 1 ? 8 : wire === 5 ? 4 : Number(varint()));
      if (![0, 1, 2, 5].includes(wire)) throw new RangeError(`the wire type ${wire} is unknown`);
      this.#fields.set(tag >> 3, [...(this.#fields.get(tag >> 3) ?? []), value]);
    }
  }

  all(field: number): readonly Buffer[] {
    return (this.#fields.get(field) ?? []).filter((value) => Buffer.isBuffer(value));
  }

  messages(field: number): readonly Message[] {
    return this.all(field).map((bytes) => new Message(bytes));
  }

  bytes(field: number): Buffer {
    return this.all(field)[0] ?? Buffer.alloc(0);
  }

  text(field: number): string {
    return this.bytes(field).toString('utf8');
  }

  has(field: number): boolean {
    return this.#fields.has(field);
  }

  number(field: number): number {
    const value = this.#fields.get(field)?.[0] ?? 0n;
    return Buffer.isBuffer(value) ? Number(value.readBigUInt64LE()) : Number(BigInt.asIntN(64, value));
  }
}

/** The kinds of spans, in the order in which the protocol enumerates them (trace.proto). */
const KINDS = [undefined, 'internal', 'server', 'client'] as const;

/** Decodes an `ExportTraceServiceRequest` (opentelemetry-proto 1.x, trace.proto and common.proto). */
function decodeExport(body: Buffer): ReceivedSpan[] {
  return new Message(body).messages(1).flatMap((resourceSpans) => {
    const resource = attributesOf(resourceSpans.messages(1)[0] ?? new Message(Buffer.alloc(0)), 1);
    return resourceSpans.messages(2).flatMap((scopeSpans) =>
      scopeSpans.messages(2).map((span): ReceivedSpan => {
        const [status] = span.messages(15);
        return {
          traceId: span.bytes(1).toString('hex'),
          spanId: span.bytes(2).toString('hex'),
          parentSpanId: span.bytes(4).toString('hex'),
          name: span.text(5),
          kind: KINDS[span.number(6)],
          start: span.number(7) / 1e6,
          end: span.number(8) / 1e6,
          attributes: attributesOf(span, 9),
          events: span.messages(11).map((event) => ({
            name: event.text(2),
            time: event.number(1) / 1e6,
            attributes: attributesOf(event, 3),
          })),
          links: span.messages(13).map((link) => ({
            traceId: link.bytes(1).toString('hex'),
            spanId: link.bytes(2).toString('hex'),
            attributes: attributesOf(link, 4),
          })),
          status: { code: status?.number(3) ?? 0, message: status?.text(2) ?? '' },
          scope: scopeSpans.messages(1)[0]?.text(1) ?? '',
          resource,
        };
      }),
    );
  });
}

function attributesOf(message: Message, field: number): Attributes {
  return Object.fromEntries(
    message.messages(field).map((pair): [string, Value] => {
      const value = pair.messages(2)[0] ?? new Message(Buffer.alloc(0));
      if (value.has(1)) return [pair.text(1), value.text(1)];
      if (value.has(2)) return [pair.text(1), value.number(2) === 1];
      if (value.has(3)) return [pair.text(1), value.number(3)];
      return [pair.text(1), value.has(4) ? value.bytes(4).readDoubleLE() : undefined];
    }),
  );
}

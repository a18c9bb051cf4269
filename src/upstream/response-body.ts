import { Readable } from 'node:stream';
import type { HeaderPairs } from '../model/header-pairs.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import type { UpstreamResponse } from '../model/upstream-response.ts';
import { areDecodable, contentCodings, decodeContent } from './content-coding.ts';
import type { BufferedResponse } from './send-buffered.ts';
import type { StreamedResponse } from './send-request.ts';
import { toTransportFailure } from './transport-failure.ts';

/** The answer with its content coding taken off; throws `too_large` and `truncated`. */
export function decodeResponse(
  method: string,
  sent: BufferedResponse,
  limit: number,
): BufferedResponse | Promise<BufferedResponse> {
  const { status, headers, body } = sent;
  const codings = contentCodings(headers);
  if (!areDecodable(codings)) return sent;
  if (codings.length === 0) return { status, headers: withLength(headers, method, codings, body), body };
  return decodeContent(body, codings, limit).then((decoded) => ({
    status,
    headers: withLength(headers, method, codings, decoded),
    body: decoded,
  }));
}

/** The answer as it came: in memory when it fits, else as a stream; a broken body gives what came and then breaks. */
export async function transparentResponse(sent: StreamedResponse, limit: number): Promise<UpstreamResponse> {
  const { status, headers } = sent;
  const read = await readBody(sent.body, limit);
  if (read.state === 'whole') return { status, headers, body: read.bytes };
  if (read.state === 'larger') return { status, headers, body: read.stream };
  return { status, headers, body: brokenBody(read.bytes, toTransportFailure(read.error, 'body')) };
}

/**
 * The body of a transparent answer without its content coding, for checks only; undefined when it is too large or coded in
 * an unknown way, `damaged` when it is not coded in the way that it says.
 */
export async function decodeForInspection(
  answer: UpstreamResponse,
  limit: number,
): Promise<Buffer | 'damaged' | undefined> {
  if (!Buffer.isBuffer(answer.body)) return undefined;
  const codings = contentCodings(answer.headers);
  if (!areDecodable(codings)) return undefined;
  return decodeContent(answer.body, codings, limit).catch((error: unknown) =>
    error instanceof UpstreamFailure && error.kind === 'truncated' ? 'damaged' : undefined,
  );
}

// The coding is off, so its field goes, and the length is that of what is left.
function withLength(headers: HeaderPairs, method: string, codings: readonly string[], body: Buffer): HeaderPairs {
  const isHead = method === 'HEAD';
  if (codings.length === 0 && isPlain(headers, isHead ? undefined : String(body.length))) return headers;
  return headers.flatMap(([name, value]): HeaderPairs => {
    const key = name.toLowerCase();
    if (key === 'content-encoding') return [];
    if (key !== 'content-length') return [[name, value]];
    if (isHead) return codings.length > 0 ? [] : [[name, value]];
    return [[name, String(body.length)]];
  });
}

// True when there is nothing to leave out or to correct.
function isPlain(headers: HeaderPairs, length: string | undefined): boolean {
  return headers.every(([name, value]) => {
    if (name.length === 16) return name.toLowerCase() !== 'content-encoding';
    return length === undefined || name.length !== 14 || value === length || name.toLowerCase() !== 'content-length';
  });
}

/** What came of a body: all of it, more than the bound, or a part before it broke. */
type ReadBody =
  | { readonly state: 'whole'; readonly bytes: Buffer }
  /** Holds all that was read and the rest, in order. */
  | { readonly state: 'larger'; readonly stream: Readable }
  | { readonly state: 'broken'; readonly bytes: Buffer; readonly error: unknown };

/** Reads a body into memory up to `limit` bytes. */
async function readBody(body: Readable, limit: number): Promise<ReadBody> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > limit) {
        body.unshift(Buffer.concat(chunks));
        return { state: 'larger', stream: body };
      }
    }
    return { state: 'whole', bytes: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) };
  } catch (error) {
    return { state: 'broken', bytes: Buffer.concat(chunks), error };
  }
}

/** A body that gives what was received and then breaks, so that its reader cannot take it for whole. */
function brokenBody(bytes: Buffer, error: Error): Readable {
  let given = bytes.length === 0;
  return new Readable({
    read() {
      if (given) {
        this.destroy(error);
        return;
      }
      given = true;
      this.push(bytes);
    },
  });
}

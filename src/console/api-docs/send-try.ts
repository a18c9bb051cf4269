import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import type { TryRequest } from './try-request.ts';

/** What came back; nothing was followed or sent again. */
export interface TryAnswer {
  readonly status: number;
  readonly statusText: string;
  /** In the order in which they came. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Seconds until the last byte. */
  readonly seconds: number;
  /** Empty where it is no text. */
  readonly body: string;
  readonly text: boolean;
  /** How many came; of a longer body no more than are shown. */
  readonly bytes: number;
  /** True where the body was longer than what is shown. */
  readonly cut: boolean;
  /** True where the connection broke before the body's end. */
  readonly broken: boolean;
}

/** Where the gateway's own public side listens. */
export interface PublicAddress {
  readonly host: string;
  readonly port: number;
}

const MAX_SHOWN_BYTES = 512 * 1024;
const TIMEOUT_MS = 60_000;

/** Sends a request to the gateway's public side, on a connection of its own; never anywhere else, and once. */
export function sendTry({ host, port }: PublicAddress, basePath: string, asked: TryRequest): Promise<TryAnswer> {
  const startedAt = performance.now();
  const body = asked.body === undefined ? undefined : Buffer.from(asked.body);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      host,
      port,
      method: asked.method,
      path: `${basePath}${asked.target}`,
      headers: { ...asked.headers, ...(body && { 'Content-Length': body.byteLength }) },
      agent: false,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      const end = () => {
        const shown = bodyText(Buffer.concat(parts), answer.headers);
        const cut = bytes > MAX_SHOWN_BYTES;
        resolve({
          status: answer.statusCode ?? 0,
          statusText: answer.statusMessage ?? '',
          headers: pairsOf(answer.rawHeaders),
          seconds: (performance.now() - startedAt) / 1000,
          body: shown ?? '',
          text: shown !== undefined,
          bytes: Math.min(bytes, MAX_SHOWN_BYTES),
          cut,
          broken: !answer.complete && !cut,
        });
      };
      answer.on('data', (part: Buffer) => {
        const room = MAX_SHOWN_BYTES - bytes;
        bytes += part.byteLength;
        if (room > 0) parts.push(part.subarray(0, room));
        if (bytes > MAX_SHOWN_BYTES) answer.destroy();
      });
      // What came before the connection broke is worth showing; `cut` tells the rest.
      answer.on('error', () => undefined);
      answer.on('close', end);
    });
    sent.end(body);
  });
}

function pairsOf(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at < raw.length; at += 2) pairs.push([raw[at] ?? '', raw[at + 1] ?? '']);
  return pairs;
}

/**
 * A body as text in its own character set; undefined where it is none: compressed, an image, or bytes that are no
 * letters.
 */
export function bodyText(bytes: Uint8Array, headers: IncomingHttpHeaders): string | undefined {
  const coding = headers['content-encoding'] ?? 'identity';
  const decoder = coding === 'identity' ? decoderFor(headers['content-type'] ?? '') : undefined;
  try {
    // A last letter may be cut in two: it is left out, and is no fault.
    const text = decoder?.decode(bytes, { stream: true });
    return text?.includes('\0') === true ? undefined : text;
  } catch {
    return undefined;
  }
}

function decoderFor(mediaType: string): TextDecoder | undefined {
  const charset = /;\s*charset="?(?<name>[^\s;"]+)/i.exec(mediaType)?.groups?.['name'] ?? 'utf-8';
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    return undefined;
  }
}

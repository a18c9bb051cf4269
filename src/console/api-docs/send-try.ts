import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { readBody } from '../../lib/read-body.ts';
import type { TryRequest } from './try-request.ts';

/** The response to a tried request; redirects are not followed and nothing is retried. */
interface TryResponse {
  readonly status: number;
  readonly statusText: string;
  /** In the order received. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Seconds until the last byte. */
  readonly seconds: number;
  /** Empty if the body is not text. */
  readonly body: string;
  readonly text: boolean;
  /** The number of bytes received, at most the number shown. */
  readonly bytes: number;
  /** True if the body was longer than the part shown. */
  readonly cut: boolean;
  /** True if the connection broke before the end of the body. */
  readonly broken: boolean;
}

/** The address of the gateway's own public listener. */
export interface PublicAddress {
  readonly host: string;
  readonly port: number;
}

const MAX_SHOWN_BYTES = 512 * 1024;
const TIMEOUT_MS = 60_000;

/** Sends a request once to the gateway's own public listener, never to another host, on a separate connection. */
export function sendTry({ host, port }: PublicAddress, basePath: string, asked: TryRequest): Promise<TryResponse> {
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
    sent.on('response', (response) => {
      readBody(response, { bytes: MAX_SHOWN_BYTES })
        .then((read) => {
          const bytes = read.bytes.subarray(0, MAX_SHOWN_BYTES);
          const shown = bodyText(bytes, response.headers);
          // The rest of a larger body is not needed. The part before a failure is still shown; `broken` reports it.
          if (read.state === 'larger') response.destroy();
          return {
            status: response.statusCode ?? 0,
            statusText: response.statusMessage ?? '',
            headers: pairsOf(response.rawHeaders),
            seconds: (performance.now() - startedAt) / 1000,
            body: shown ?? '',
            text: shown !== undefined,
            bytes: bytes.byteLength,
            cut: read.state === 'larger',
            broken: read.state === 'broken',
          };
        })
        .then(resolve, reject);
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
 * Decodes a body as text in its own character set; undefined if it is not text: compressed, an image, or invalid bytes.
 */
function bodyText(bytes: Uint8Array, headers: IncomingHttpHeaders): string | undefined {
  const coding = headers['content-encoding'] ?? 'identity';
  const decoder = coding === 'identity' ? decoderFor(headers['content-type'] ?? '') : undefined;
  try {
    // The last character may be cut in two; it is omitted without an error.
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

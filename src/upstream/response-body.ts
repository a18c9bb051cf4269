import { Readable } from 'node:stream';
import { readBody } from '../lib/read-body.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import type { UpstreamResponse } from '../model/upstream-response.ts';
import { areDecodable, contentCodings, decodeContent } from './content-coding.ts';
import type { BufferedResponse } from './send-buffered.ts';
import type { StreamedResponse } from './send-request.ts';
import { toTransportFailure } from './transport-failure.ts';

/** Returns the response with its content coding removed; throws `too_large` and `truncated`. */
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

/**
 * Returns the response as received: in memory if it fits, otherwise as a stream. A broken body yields the received
 * bytes and then fails.
 */
export async function transparentResponse(sent: StreamedResponse, limit: number): Promise<UpstreamResponse> {
  const { status, headers } = sent;
  const read = await readBody(sent.body, { bytes: limit });
  if (read.state === 'whole') return { status, headers, body: read.bytes };
  if (read.state === 'larger') return { status, headers, body: read.stream };
  return { status, headers, body: brokenBody(read.bytes, toTransportFailure(read.error, 'body')) };
}

/**
 * Returns the body of a transparent response without its content coding, for checks only. Returns undefined if it is
 * too large or its coding is unknown, and `damaged` if it cannot be decoded.
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

// The coding has been removed, so its header is removed too, and the length is that of the decoded body.
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

// Returns true if no header has to be removed or corrected.
function isPlain(headers: HeaderPairs, length: string | undefined): boolean {
  return headers.every(([name, value]) => {
    if (name.length === 16) return name.toLowerCase() !== 'content-encoding';
    return length === undefined || name.length !== 14 || value === length || name.toLowerCase() !== 'content-length';
  });
}

/**
 * Creates a body that yields the received bytes and then fails, so that its reader cannot mistake it for a complete
 * one.
 */
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

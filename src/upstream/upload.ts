import type { Readable } from 'node:stream';
import { readBody } from '../lib/read-body.ts';
import type { Arrival } from '../model/arrival.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';

/** The unread body of a client's request. */
export interface Upload {
  readonly stream: Readable;
  /** The length in bytes. Undefined for a chunked body. */
  readonly length: number | undefined;
}

/**
 * Returns a request's body, framed as the request parser determined (RFC 9112 §6), or undefined if the request has
 * none. The framing must not depend on the headers that are forwarded.
 */
export function uploadOf({ headers, body }: Pick<Arrival, 'headers' | 'body'>): Upload | undefined {
  if (headers['transfer-encoding'] !== undefined) return { stream: body, length: undefined };
  const length = Number(headers['content-length'] ?? 0);
  return length > 0 ? { stream: body, length } : undefined;
}

// Longer bodies, and bodies of unknown length, are streamed.
const SHORT_BYTES = 65_536;

/**
 * Returns whether the body must be read completely before the request takes an upstream slot, so that a slow client
 * does not occupy a slot.
 */
export function isShort({ length }: Upload): boolean {
  return length !== undefined && length <= SHORT_BYTES;
}

/**
 * Reads a short body completely. Rejects with an `UpstreamFailure` of kind `aborted` if the client disconnects or
 * pauses for longer than `silenceMs`.
 */
export async function readShort({ stream }: Upload, silenceMs: number): Promise<Buffer> {
  const read = await readBody(stream, { bytes: SHORT_BYTES, silenceMs });
  if (read.state === 'whole') return read.bytes;
  throw new UpstreamFailure('aborted', { cause: read.state === 'broken' ? read.error : undefined });
}

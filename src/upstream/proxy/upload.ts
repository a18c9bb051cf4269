import type { Readable } from 'node:stream';
import { createSilenceWatch } from '../../lib/silence-watch.ts';
import type { Arrival } from '../../model/arrival.ts';
import { UpstreamFailure } from '../../model/upstream-failure.ts';

/** The unread body of a client's request. */
export interface Upload {
  readonly stream: Readable;
  /** In bytes; undefined for a chunked body. */
  readonly length: number | undefined;
}

/**
 * Returns the body of a request, framed as the request parser determined (RFC 9112 §6); undefined for a request without
 * one. The framing must not depend on the headers that are forwarded.
 */
export function uploadOf({ headers, body }: Pick<Arrival, 'headers' | 'body'>): Upload | undefined {
  if (headers['transfer-encoding'] !== undefined) return { stream: body, length: undefined };
  const length = Number(headers['content-length'] ?? 0);
  return length > 0 ? { stream: body, length } : undefined;
}

// Longer bodies, and bodies of unknown length, are streamed.
const SHORT_BYTES = 65_536;

/**
 * Returns true if a body is read completely before it takes a place at the upstream, so that a slow client occupies
 * none.
 */
export function isShort({ length }: Upload): boolean {
  return length !== undefined && length <= SHORT_BYTES;
}

/**
 * Reads a short body completely; rejects with `UpstreamFailure` of kind `aborted` if the client disconnects or pauses
 * too long.
 */
export function readShort({ stream }: Upload, patienceMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The client has already disconnected, so no further events will arrive.
    if (stream.destroyed) return reject(new UpstreamFailure('aborted'));
    const parts: Buffer[] = [];
    const giveUp = () => {
      watch.stop();
      reject(new UpstreamFailure('aborted'));
    };
    const watch = createSilenceWatch(giveUp);
    watch.start(patienceMs);
    stream.on('data', (part: Buffer) => {
      watch.touch();
      parts.push(part);
    });
    stream.once('end', () => {
      watch.stop();
      resolve(Buffer.concat(parts));
    });
    stream.once('error', giveUp);
    // This has no effect after the end.
    return void stream.once('close', giveUp);
  });
}

import type { Readable } from 'node:stream';
import { createSilenceWatch } from '../../lib/silence-watch.ts';
import type { Arrival } from '../../model/arrival.ts';
import { UpstreamFailure } from '../../model/upstream-failure.ts';

/** The body of a client's request, not read yet. */
export interface Upload {
  readonly stream: Readable;
  /** In bytes; undefined for a body that is sent in chunks. */
  readonly length: number | undefined;
}

/**
 * Returns the body of a request, framed as the parser of the request found it (RFC 9112 §6); undefined for a request without
 * one. The framing must not depend on which headers are forwarded.
 */
export function uploadOf({ headers, body }: Pick<Arrival, 'headers' | 'body'>): Upload | undefined {
  if (headers['transfer-encoding'] !== undefined) return { stream: body, length: undefined };
  const length = Number(headers['content-length'] ?? 0);
  return length > 0 ? { stream: body, length } : undefined;
}

// Longer ones, and those that do not say how long they are, are streamed.
const SHORT_BYTES = 65_536;

/** Returns whether a body is read whole before it takes a place at the upstream, so that a slow client holds none. */
export function isShort({ length }: Upload): boolean {
  return length !== undefined && length <= SHORT_BYTES;
}

/** Reads a short body whole; rejects with `UpstreamFailure` of kind `aborted` when the client leaves or pauses too long. */
export function readShort({ stream }: Upload, patienceMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // A client that has left already: nothing more is heard of it.
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
    // After the end this changes nothing.
    return void stream.once('close', giveUp);
  });
}

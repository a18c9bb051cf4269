import { finished, type Readable, type Transform, type Writable } from 'node:stream';

/**
 * Sends a body on as it comes, and calls back once when all of it is written or either side broke; then the other side
 * is broken too. Does what `pipeline` does, but without the AbortController and its error that end every pipeline.
 */
export function passBody(
  from: Readable,
  through: readonly Transform[],
  to: Writable,
  onEnd: (error: Error | undefined) => void,
): void {
  let ended = false;
  const end = (error: Error | null | undefined) => {
    if (ended) return;
    ended = true;
    if (error) for (const stream of [from, ...through, to]) stream.destroy();
    onEnd(error ?? undefined);
  };
  const fail = (error: Error | null | undefined) => {
    if (error) end(error);
  };
  let last = from;
  for (const transform of through) {
    finished(last, { writable: false }, fail);
    last = last.pipe(transform);
  }
  finished(last, { writable: false }, fail);
  finished(to, { readable: false }, end);
  last.pipe(to);
}

import { finished, type Readable, type Transform, type Writable } from 'node:stream';
import { UpstreamFailure } from '../model/upstream-failure.ts';

/** What a body runs through on its way to the client, and who watches it. */
export interface BodyPath {
  readonly from: Readable;
  readonly through: readonly Transform[];
  readonly to: Writable;
  /** Sees each part as it comes. */
  readonly onRead: (part: Buffer) => void;
  /** Sees each part as it goes on. */
  readonly onPassed: (part: Buffer) => void;
  /** Called once: when all of it is written, or when either side broke; then the other side is broken too. */
  readonly onEnd: (error: Error | undefined) => void;
}

/**
 * Sends a body on as it comes. Does what `pipeline` does without the AbortController and its error that end every
 * pipeline, and for a body that runs through nothing with a third of the listeners.
 */
export function passBody(path: BodyPath): void {
  const { from, through, to, onRead, onPassed } = path;
  const end = once((error) => {
    if (error) for (const stream of [from, ...through, to]) stream.destroy();
    path.onEnd(error);
  });
  if (through.length === 0) return passStraight(path, end);
  const fail = (error: Error | null | undefined) => {
    if (error) end(error);
  };
  from.on('data', onRead);
  let last = from;
  for (const transform of through) {
    finished(last, { writable: false }, fail);
    last = last.pipe(transform);
  }
  last.on('data', onPassed);
  finished(last, { writable: false }, fail);
  finished(to, { readable: false }, (error) => end(error ?? undefined));
  last.pipe(to);
  return undefined;
}

function passStraight({ from, to, onRead, onPassed }: BodyPath, end: (error?: Error) => void): void {
  let isWhole = false;
  from.on('data', (part: Buffer) => {
    onRead(part);
    onPassed(part);
    if (!to.write(part)) from.pause();
  });
  to.on('drain', () => from.resume());
  from.once('end', () => {
    isWhole = true;
    to.end();
  });
  from.once('close', () => {
    if (!isWhole) end(new UpstreamFailure('truncated'));
  });
  from.on('error', end);
  to.on('error', end);
  to.once('finish', () => end());
  // Whoever should have read it has left.
  to.once('close', () => end(to.writableFinished ? undefined : new UpstreamFailure('aborted')));
}

function once(act: (error?: Error) => void): (error?: Error) => void {
  let isDone = false;
  return (error) => {
    if (isDone) return;
    isDone = true;
    act(error);
  };
}

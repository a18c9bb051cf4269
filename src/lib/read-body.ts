import { finished, type Readable } from 'node:stream';
import { BodyParts } from './body-parts.ts';
import { createSilenceWatch } from './silence-watch.ts';

/** The limits for reading a body into memory. */
interface ReadLimits {
  /** The maximum number of bytes to read into memory. */
  readonly bytes: number;
  /** The longest allowed pause between two chunks, in milliseconds. Undefined if pauses are limited elsewhere. */
  readonly silenceMs?: number;
}

/** The outcome of reading a body into memory. */
type ReadBody =
  | { readonly state: 'whole'; readonly bytes: Buffer }
  /** The body is larger than the limit. `stream` yields the whole body, including the content of `bytes`. */
  | { readonly state: 'larger'; readonly bytes: Buffer; readonly stream: Readable }
  /** The source failed, closed too early or paused for too long. `bytes` contains everything received before that. */
  | { readonly state: 'broken'; readonly bytes: Buffer; readonly error: unknown };

/** Reads a body into memory up to a limit. The promise is never rejected, and the source is never destroyed. */
export function readBody(source: Readable, { bytes: limit, silenceMs }: ReadLimits): Promise<ReadBody> {
  return new Promise((resolve) => {
    const received = new BodyParts();

    const end = (outcome: ReadBody) => {
      watch.stop();
      source.off('readable', onReadable);
      stopWaiting();
      resolve(outcome);
    };
    const onReadable = () => {
      watch.touch();
      for (let part = next(source); part !== null; part = next(source)) {
        received.add(part);
        if (received.length <= limit) continue;
        const bytes = received.whole();
        source.unshift(bytes);
        return end({ state: 'larger', bytes, stream: source });
      }
      return undefined;
    };
    const watch = createSilenceWatch(() =>
      end({ state: 'broken', bytes: received.whole(), error: new Error(`no data for ${silenceMs} ms`) }),
    );
    // `finished` also detects a source that ended or closed before this function was called.
    const stopWaiting = finished(source, { writable: false }, (error) =>
      end(error ? { state: 'broken', bytes: received.whole(), error } : { state: 'whole', bytes: received.whole() }),
    );
    source.on('readable', onReadable);
    if (silenceMs !== undefined) watch.start(silenceMs);
  });
}

const next = (source: Readable) => source.read() as Buffer | null;

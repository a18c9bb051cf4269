import { UpstreamFailure } from './upstream-failure.ts';

/** The reader of a streamed body. */
interface BodyReader {
  /** Receives the next part of the body. Returns false to pause the body until `resume` is called. */
  part(bytes: Buffer): boolean;
  /**
   * Called once after the last part, even if the body is paused. If the body is incomplete, `failure` is the reason.
   */
  end(failure: UpstreamFailure | undefined): void;
}

/** The connection over which a body is received. */
interface BodySource {
  /**
   * Called when too much data is waiting for the reader. After the call, the source may still push data that it has
   * already received.
   */
  pause(): void;
  resume(): void;
  /** Called if the body is destroyed before it has been received completely. */
  abort(reason: UpstreamFailure): void;
}

// The source for a body that is already complete in memory.
const NO_SOURCE: BodySource = { pause: () => undefined, resume: () => undefined, abort: () => undefined };

// The number of bytes that can wait for the reader before the source is paused.
const MAX_WAITING = 65_536;

/**
 * A response body on its way from a connection to one reader. A Node stream could serve the same purpose, but would be
 * several times slower.
 *
 * Parts are queued while there is no reader or while the reader has paused. If the body fails, the reader still
 * receives everything that arrived before the failure, unless the body is destroyed.
 */
export class StreamedBody {
  readonly #source: BodySource;
  readonly #listeners: ((failure: UpstreamFailure | undefined) => void)[] = [];
  #onPart: ((bytes: Buffer) => void) | undefined;
  #reader: BodyReader | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isReaderPaused = false;
  #isSourcePaused = false;
  #isReceived = false;
  #isClosed = false;
  #failure: UpstreamFailure | undefined;

  constructor(source: BodySource = NO_SOURCE) {
    this.#source = source;
  }

  /** Why the body is incomplete, if that is already known. The parts that arrived may still be waiting for a reader. */
  get failure(): UpstreamFailure | undefined {
    return this.#failure;
  }

  /** Adds the next part of the body. */
  push(bytes: Buffer): void {
    if (this.#isReceived || bytes.length === 0) return undefined;
    if (this.#reader !== undefined && !this.#isReaderPaused) return this.#deliver(bytes, this.#reader);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    return this.#pauseIfFull();
  }

  /** Ends the body. If the body was truncated, `failure` is the reason. */
  finish(failure?: UpstreamFailure): void {
    if (this.#isReceived) return undefined;
    // The client has disconnected or is not reading, so the waiting parts cannot be delivered.
    if (failure?.kind === 'aborted') return this.destroy(failure);
    this.#isReceived = true;
    this.#failure = failure;
    return this.#flush();
  }

  /** Starts passing parts to a reader. */
  read(reader: BodyReader): void {
    if (this.#isClosed) return reader.end(this.#failure);
    this.#reader = reader;
    return this.resume();
  }

  /** Resumes passing parts to the reader after the reader has paused the body. */
  resume(): void {
    this.#isReaderPaused = false;
    this.#flush();
  }

  /** Takes back bytes from a reader that is about to return false. The next reader receives these bytes first. */
  unread(bytes: Buffer): void {
    this.#reader = undefined;
    this.#waiting.unshift(bytes);
    this.#waitingBytes += bytes.length;
    this.#pauseIfFull();
  }

  /** Discards all unread parts. Has no effect after the body has ended. */
  destroy(reason?: UpstreamFailure): void {
    if (this.#isClosed) return;
    this.#failure ??= reason ?? new UpstreamFailure('aborted');
    const isComplete = this.#isReceived;
    this.#isReceived = true;
    if (!isComplete) this.#source.abort(this.#failure);
    this.#close();
  }

  /** Sets a function that receives each part before the reader does. */
  onPart(listener: (bytes: Buffer) => void): void {
    this.#onPart = listener;
  }

  /**
   * Adds a function that is called once, before the reader's `end`, when the body has been read completely or
   * destroyed.
   */
  onEnd(listener: (failure: UpstreamFailure | undefined) => void): void {
    if (this.#isClosed) listener(this.#failure);
    else this.#listeners.push(listener);
  }

  #flush(): void {
    for (let reader = this.#reader; reader !== undefined && !this.#isReaderPaused; reader = this.#reader) {
      const part = this.#waiting.shift();
      if (part === undefined) break;
      this.#waitingBytes -= part.length;
      this.#deliver(part, reader);
    }
    if (this.#reader === undefined || this.#waiting.length > 0) return;
    if (this.#isReceived) this.#close();
    else if (this.#isSourcePaused) {
      this.#isSourcePaused = false;
      this.#source.resume();
    }
  }

  #deliver(bytes: Buffer, reader: BodyReader): void {
    this.#onPart?.(bytes);
    if (!reader.part(bytes)) this.#isReaderPaused = true;
  }

  #pauseIfFull(): void {
    if (this.#waitingBytes < MAX_WAITING || this.#isSourcePaused || this.#isReceived) return;
    this.#isSourcePaused = true;
    this.#source.pause();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting = [];
    const reader = this.#reader;
    this.#reader = undefined;
    for (const listener of this.#listeners) listener(this.#failure);
    reader?.end(this.#failure);
  }
}

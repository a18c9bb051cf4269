import type { Cancellation } from './ending.ts';

/** The number of concurrent tasks, the number of tasks that may wait, and the longest wait. */
interface LimiterOptions {
  readonly concurrency: number;
  readonly queue: number;
  readonly queueTimeoutMs: number;
}

/** The rejection for a full queue or for a wait that took too long. */
export class LimiterRefusal extends Error {
  override readonly name = 'LimiterRefusal';
  readonly reason: 'full' | 'timeout';

  constructor(reason: 'full' | 'timeout') {
    super(reason === 'full' ? 'the queue is full' : 'the wait in the queue timed out');
    this.reason = reason;
  }
}

/** Bounds concurrency, with a short first-in, first-out queue. */
interface Limiter {
  /**
   * Waits for a slot and returns a function that releases it, once; rejects with `LimiterRefusal` or the signal's
   * reason.
   */
  acquire(signal?: Cancellation): Promise<() => void>;
  /** Takes a free slot and returns a function that releases it, once; undefined if none is free. */
  tryAcquire(): (() => void) | undefined;
  stats(): { readonly inFlight: number; readonly queued: number };
}

/** Creates a limiter. */
export function createLimiter(options: LimiterOptions): Limiter {
  let inFlight = 0;
  const waiting = new Set<() => void>();

  const createRelease = () => {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      // The slot goes directly to the next in the queue, so that no newcomer can overtake it.
      const [next] = waiting;
      if (next) next();
      else inFlight -= 1;
    };
  };

  const tryAcquire = () => {
    if (inFlight >= options.concurrency) return undefined;
    inFlight += 1;
    return createRelease();
  };

  return {
    tryAcquire,
    acquire(signal) {
      if (signal?.aborted) return Promise.reject(toError(signal.reason));
      const free = tryAcquire();
      if (free) return Promise.resolve(free);
      if (waiting.size >= options.queue) return Promise.reject(new LimiterRefusal('full'));
      return new Promise((resolve, reject) => {
        const leave = () => {
          waiting.delete(enter);
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
        };
        const enter = () => {
          leave();
          resolve(createRelease());
        };
        const abort = () => {
          leave();
          reject(toError(signal?.reason));
        };
        const timer = setTimeout(() => {
          leave();
          reject(new LimiterRefusal('timeout'));
        }, options.queueTimeoutMs);
        signal?.addEventListener('abort', abort, { once: true });
        waiting.add(enter);
      });
    },
    stats: () => ({ inFlight, queued: waiting.size }),
  };
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}

import type { Ending } from './ending.ts';

/** How many may work at once, how many may wait for that, and for how long. */
export interface LimiterOptions {
  readonly concurrency: number;
  readonly queue: number;
  readonly queueTimeoutMs: number;
}

/** What a full queue or too long a wait in it is answered with. */
export class LimiterRefusal extends Error {
  override readonly name = 'LimiterRefusal';
  readonly reason: 'full' | 'timeout';

  constructor(reason: 'full' | 'timeout') {
    super(reason === 'full' ? 'the queue is full' : 'the wait in the queue took too long');
    this.reason = reason;
  }
}

/** A bound on what happens at once, with a short queue in order of arrival. */
export interface Limiter {
  /** Waits for a place; rejects with `LimiterRefusal` or the signal's reason; what it answers gives the place back, once. */
  acquire(signal?: Ending): Promise<() => void>;
  /** A place that is free now, as a function that gives it back, once; undefined when somebody would have to wait. */
  tryAcquire(): (() => void) | undefined;
  stats(): { readonly inFlight: number; readonly queued: number };
}

/** Makes a limiter. */
export function createLimiter(options: LimiterOptions): Limiter {
  let inFlight = 0;
  const waiting = new Set<() => void>();

  const place = () => {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      // The place passes on without becoming free in between, so that nobody can overtake the queue.
      const [next] = waiting;
      if (next) next();
      else inFlight -= 1;
    };
  };

  const tryAcquire = () => {
    if (inFlight >= options.concurrency) return undefined;
    inFlight += 1;
    return place();
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
          resolve(place());
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

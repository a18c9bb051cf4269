import { ExpectedError } from './expected-error.ts';
import { createFairQueue } from './fair-queue.ts';

/** The bounds of a limiter. */
interface LimiterOptions {
  /** The maximum number of slots. */
  readonly concurrency: number;
  /** The maximum number of waiting tasks, without the urgent ones. */
  readonly queue: number;
  /** The maximum waiting time, in milliseconds. If undefined, the waiting time is not limited. */
  readonly queueTimeoutMs?: number;
  /** The maximum number of slots of one client, without those of urgent tasks. If undefined, a client can have all. */
  readonly perClient?: number;
}

/** Stops a wait. An `AbortSignal` is one. */
interface WaitSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** What a limiter needs to know about a task. */
interface Waiter {
  /** The signal that cancels the wait. */
  readonly signal?: WaitSignal | undefined;
  /** The client to which the task belongs. Waiting clients take turns. */
  readonly client?: string;
  /** True if the task takes precedence and is never refused. Callers must limit the number of urgent tasks. */
  readonly isUrgent?: boolean;
}

/** The error for a task that is refused because the queue is full or the task has waited too long. */
export class LimiterRefusal extends ExpectedError {
  override readonly name = 'LimiterRefusal';
  readonly reason: 'full' | 'timeout';

  constructor(reason: 'full' | 'timeout') {
    super(reason === 'full' ? 'the queue is full' : 'the wait in the queue timed out');
    this.reason = reason;
  }
}

/** Limits concurrency, with a short queue in which clients take turns. */
interface Limiter {
  /**
   * Waits for a slot and returns a function that releases it. Calling the function again has no effect. Rejects with a
   * `LimiterRefusal` or with the signal's reason. If the queue is full, the last task of the client with the most
   * waiting tasks is removed to make room for a client with fewer.
   */
  acquire(waiter?: Waiter): Promise<() => void>;
  /**
   * Takes a free slot and returns a function that releases it. Calling the function again has no effect. Returns
   * undefined if no slot is free for this client.
   */
  tryAcquire(waiter?: Waiter): (() => void) | undefined;
  stats(): { readonly inFlight: number; readonly queued: number };
}

/** A task in the queue. */
interface Waiting {
  enter(): void;
  refuse(reason: LimiterRefusal['reason']): void;
}

/** Creates a limiter whose slots are all free. */
export function createLimiter({ concurrency, queue, queueTimeoutMs, perClient }: LimiterOptions): Limiter {
  let inFlight = 0;
  const urgent = new Set<Waiting>();
  const waiting = createFairQueue<Waiting>();
  // The number of slots of each client. Counted only if that number is limited.
  const slotsOf = new Map<string, number>();

  const hasShare = (client: string) => perClient === undefined || (slotsOf.get(client) ?? 0) < perClient;
  const mayServe = perClient === undefined ? undefined : hasShare;
  /** Returns the client whose slots are counted for this task, if any. */
  const countedClient = (waiter: Waiter | undefined) =>
    perClient === undefined || waiter?.isUrgent === true ? undefined : (waiter?.client ?? '');
  const uncount = (client: string) => {
    const left = (slotsOf.get(client) ?? 1) - 1;
    if (left === 0) slotsOf.delete(client);
    else slotsOf.set(client, left);
  };
  const nextWaiting = () => {
    if (urgent.size === 0) return waiting.size === 0 ? undefined : waiting.next(mayServe);
    const [first] = urgent;
    return first;
  };

  const takeSlot = (client: string | undefined) => {
    if (client !== undefined) slotsOf.set(client, (slotsOf.get(client) ?? 0) + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      if (client !== undefined) uncount(client);
      // The slot goes directly to the next task in the queue, so that no new task can overtake it.
      const next = nextWaiting();
      if (next === undefined) inFlight -= 1;
      else next.enter();
    };
  };

  const tryAcquire = (waiter?: Waiter) => {
    if (inFlight >= concurrency) return undefined;
    const client = countedClient(waiter);
    if (client !== undefined && !hasShare(client)) return undefined;
    inFlight += 1;
    return takeSlot(client);
  };

  return {
    tryAcquire,
    acquire(waiter = {}) {
      const { signal, client = '', isUrgent = false } = waiter;
      if (signal?.aborted) return Promise.reject(toError(signal.reason));
      const free = tryAcquire(waiter);
      if (free) return Promise.resolve(free);
      if (!isUrgent && waiting.size >= queue) {
        const displaced = waiting.displace(client);
        if (displaced === undefined) return Promise.reject(new LimiterRefusal('full'));
        displaced.refuse('full');
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          if (isUrgent) urgent.delete(waits);
          else waiting.remove(client, waits);
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
        };
        const waits: Waiting = {
          enter() {
            leave();
            resolve(takeSlot(countedClient(waiter)));
          },
          refuse(reason) {
            leave();
            reject(new LimiterRefusal(reason));
          },
        };
        const abort = () => {
          leave();
          reject(toError(signal?.reason));
        };
        const timer =
          queueTimeoutMs === undefined ? undefined : setTimeout(() => waits.refuse('timeout'), queueTimeoutMs);
        signal?.addEventListener('abort', abort, { once: true });
        if (isUrgent) urgent.add(waits);
        else waiting.add(client, waits);
      });
    },
    stats: () => ({ inFlight, queued: waiting.size + urgent.size }),
  };
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}

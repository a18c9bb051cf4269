/** One caller's share in a flight: `leader` is true for the caller that started the work. */
export interface Flight<T> {
  readonly promise: Promise<T>;
  readonly leader: boolean;
}

/** Runs the same work once for everybody who asks for it while it is under way. */
export interface SingleFlight<T> {
  /** Joins the work under way for `key` or starts `work`; an aborted `signal` ends this caller's wait only. */
  run(key: string, work: () => T | Promise<T>, signal?: AbortSignal): Flight<T>;
  /** The number of keys under way. */
  readonly size: number;
}

/** Shares work by key; keys beyond `maxKeys` run unshared, so that memory stays bounded. */
export function createSingleFlight<T>({ maxKeys = 1000 }: { maxKeys?: number } = {}): SingleFlight<T> {
  const flights = new Map<string, Promise<T>>();

  const start = (key: string, work: () => T | Promise<T>): Promise<T> => {
    // A work that throws before its first await must fail like any other.
    const promise = new Promise<T>((resolve) => resolve(work()));
    const shared = flights.size < maxKeys;
    if (shared) flights.set(key, promise);
    const land = () => {
      if (shared) flights.delete(key);
    };
    // Also keeps a failure that nobody waits for any more from being an unhandled rejection.
    promise.then(land, land);
    return promise;
  };

  return {
    run(key, work, signal) {
      const flying = flights.get(key);
      const promise = flying ?? start(key, work);
      return { promise: signal ? untilAborted(promise, signal) : promise, leader: flying === undefined };
    },
    get size() {
      return flights.size;
    },
  };
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const waiting = Promise.withResolvers<T>();
  const leave = () => waiting.reject(signal.reason as Error);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  const stop = () => signal.removeEventListener('abort', leave);
  work.then(waiting.resolve, waiting.reject).finally(stop).catch(stop);
  // Whoever has left does not look at the promise again.
  waiting.promise.catch(stop);
  return waiting.promise;
}

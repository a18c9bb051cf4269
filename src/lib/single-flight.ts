/** Shared work as seen by one of its callers. `leader` is true for the caller that started the work. */
interface Flight<T> {
  readonly promise: Promise<T>;
  readonly leader: boolean;
}

/** Runs a piece of work only once for all callers that request it at the same time. */
interface SingleFlight<T> {
  /** Starts `work`, or joins the work already running for `key`. Aborting `signal` ends only this caller's wait. */
  run(key: string, work: () => T | Promise<T>, signal?: AbortSignal): Flight<T>;
  /** The number of keys for which work is in progress. */
  readonly size: number;
}

/** Creates a `SingleFlight`. To limit memory use, work is shared for at most `maxKeys` keys at a time. */
export function createSingleFlight<T>({ maxKeys = 1000 }: { maxKeys?: number } = {}): SingleFlight<T> {
  const flights = new Map<string, Promise<T>>();

  const start = (key: string, work: () => T | Promise<T>): Promise<T> => {
    // If `work` throws synchronously, the exception must also become a rejection.
    const promise = new Promise<T>((resolve) => resolve(work()));
    const shared = flights.size < maxKeys;
    if (shared) flights.set(key, promise);
    const land = () => {
      if (shared) flights.delete(key);
    };
    // Handles the rejection even if no caller is still waiting.
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
  // A caller that has stopped waiting no longer handles a rejection of this promise.
  waiting.promise.catch(stop);
  return waiting.promise;
}

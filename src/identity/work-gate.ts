import type { WorkBounds } from './identity-options.ts';

/** Runs tasks a few at a time; undefined means that no place was free, and the task never runs. */
export interface WorkGate {
  /** An `urgent` task goes ahead of the others and is never turned away; its callers bound how many there are. */
  run<T>(task: () => Promise<T>, urgent: boolean): Promise<T> | undefined;
}

/** A gate that lets `concurrency` tasks run and `queue` more wait. */
export function createWorkGate(bounds: WorkBounds): WorkGate {
  const urgentOnes: (() => void)[] = [];
  const others: (() => void)[] = [];
  let running = 0;

  async function perform<T>(task: () => Promise<T>): Promise<T> {
    try {
      return await task();
    } finally {
      const next = urgentOnes.shift() ?? others.shift();
      // The place is handed on, so that a newcomer cannot slip in between.
      if (next) next();
      else running--;
    }
  }

  return {
    run<T>(task: () => Promise<T>, urgent: boolean) {
      if (running < bounds.concurrency) {
        running++;
        return perform(task);
      }
      if (!urgent && others.length >= bounds.queue) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      (urgent ? urgentOnes : others).push(resolve);
      return promise.then(() => perform(task));
    },
  };
}

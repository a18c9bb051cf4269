import { createFairQueue } from '../../lib/fair-queue.ts';
import type { WorkBounds } from './verifier.ts';

/** Limits how many tasks run at the same time. */
interface WorkGate {
  /**
   * Runs a task when a slot is free. If the queue is full, returns undefined without running the task. An `urgent` task
   * takes precedence and is never rejected, so callers must limit the number of urgent tasks.
   */
  run<T>(task: () => Promise<T>, urgent: boolean, network: string): Promise<T | undefined>;
}

/** A waiting task, with the functions that start or reject it. */
interface Waiting {
  readonly start: () => void;
  readonly reject: () => void;
}

/**
 * Creates a gate that runs up to `concurrency` tasks and queues up to `queue` more. The networks share the capacity
 * fairly: they take turns, and a single network can never occupy all slots. If the queue is full, a task from the
 * network with the most waiting tasks is rejected in favor of a network with fewer. A network that sends too many tasks
 * therefore delays only its own tasks.
 */
export function createWorkGate(bounds: WorkBounds): WorkGate {
  const { concurrency, queue } = bounds;
  const share = Math.max(1, concurrency - 1);
  const urgentTasks: (() => void)[] = [];
  const waiting = createFairQueue<Waiting>();
  const runningOf = new Map<string, number>();
  let running = 0;

  const mayRun = (network: string) => running < concurrency && (runningOf.get(network) ?? 0) < share;

  async function perform<T>(task: () => Promise<T>, network: string | undefined): Promise<T> {
    running += 1;
    if (network !== undefined) runningOf.set(network, (runningOf.get(network) ?? 0) + 1);
    try {
      return await task();
    } finally {
      running -= 1;
      if (network !== undefined) leave(network);
      startNext();
    }
  }

  function leave(network: string): void {
    const left = (runningOf.get(network) ?? 1) - 1;
    if (left === 0) runningOf.delete(network);
    else runningOf.set(network, left);
  }

  /** Passes a free slot directly to the next waiting task, so that a new task cannot take it first. */
  function startNext(): void {
    if (running >= concurrency) return;
    const urgent = urgentTasks.shift();
    if (urgent !== undefined) return urgent();
    waiting.next(mayRun)?.start();
  }

  /**
   * Makes room for a network's next task by rejecting a task from a network with more waiting tasks. Returns false if
   * there is no such network.
   */
  function makeRoom(network: string): boolean {
    if (waiting.size < queue) return true;
    const displaced = waiting.displace(network);
    displaced?.reject();
    return displaced !== undefined;
  }

  return {
    async run<T>(task: () => Promise<T>, urgent: boolean, network: string): Promise<T | undefined> {
      if (urgent ? running < concurrency : mayRun(network)) return perform(task, urgent ? undefined : network);
      if (urgent) {
        const { promise, resolve } = Promise.withResolvers<Promise<T>>();
        urgentTasks.push(() => resolve(perform(task, undefined)));
        return promise;
      }
      if (!makeRoom(network)) return undefined;
      const { promise, resolve } = Promise.withResolvers<Promise<T> | undefined>();
      waiting.add(network, { start: () => resolve(perform(task, network)), reject: () => resolve(undefined) });
      return promise;
    },
  };
}

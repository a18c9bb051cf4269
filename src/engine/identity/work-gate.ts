import { createLimiter, LimiterRefusal } from '../../lib/limiter.ts';
import type { WorkBounds } from './verifier.ts';

/** Limits how many credentials are verified at the same time. */
interface WorkGate {
  /**
   * Runs a task when a slot is free. If the queue is full, returns undefined without running the task. An `urgent` task
   * takes precedence and is never rejected, so callers must limit the number of urgent tasks.
   */
  run<T>(task: () => Promise<T>, urgent: boolean, network: string): Promise<T | undefined>;
}

/**
 * Creates a gate that runs up to `concurrency` tasks and queues up to `queue` more. The networks share the capacity
 * fairly: they take turns, and a single network can never occupy all slots. If the queue is full, a task from the
 * network with the most waiting tasks is rejected in favor of a network with fewer. A network that sends too many tasks
 * therefore delays only its own tasks.
 */
export function createWorkGate({ concurrency, queue }: WorkBounds): WorkGate {
  const limiter = createLimiter({ concurrency, queue, perClient: Math.max(1, concurrency - 1) });
  return {
    async run<T>(task: () => Promise<T>, urgent: boolean, network: string): Promise<T | undefined> {
      const waiter = { client: network, isUrgent: urgent };
      const release = limiter.tryAcquire(waiter) ?? (await limiter.acquire(waiter).catch(refused));
      if (release === undefined) return undefined;
      try {
        return await task();
      } finally {
        release();
      }
    },
  };
}

function refused(error: unknown): undefined {
  if (!(error instanceof LimiterRefusal)) throw error;
}

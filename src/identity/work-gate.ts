import type { WorkBounds } from './identity-options.ts';

/** Runs a bounded number of tasks at a time. */
interface WorkGate {
  /**
   * Runs a task; returns undefined without running it if the queue is full. An `urgent` task takes precedence and is
   * never rejected; callers must bound the number of urgent tasks.
   */
  run<T>(task: () => Promise<T>, urgent: boolean, network: string): Promise<T | undefined>;
}

/** A waiting task, to be started or rejected. */
interface Waiting {
  readonly start: () => void;
  readonly reject: () => void;
}

/**
 * Creates a gate that runs `concurrency` tasks and lets `queue` more wait, shared fairly between networks: they take
 * turns, one network never takes the last free slot, and if the queue is full, the network with most waiting tasks
 * makes room for one with fewer. A network that floods the gate waits and is rejected, while all others are served.
 */
export function createWorkGate(bounds: WorkBounds): WorkGate {
  const { concurrency, queue } = bounds;
  const share = Math.max(1, concurrency - 1);
  const urgentTasks: (() => void)[] = [];
  /** The waiting networks in order of their turn. */
  const waiting = new Map<string, Waiting[]>();
  const runningOf = new Map<string, number>();
  let waitingCount = 0;
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

  /** Passes a free slot directly to the next task, so that a newcomer cannot overtake it. */
  function startNext(): void {
    if (running >= concurrency) return;
    const urgent = urgentTasks.shift();
    if (urgent !== undefined) return urgent();
    for (const [network, tasks] of waiting) {
      if (!mayRun(network)) continue;
      // The network moves to the end, behind those still waiting for their turn.
      waiting.delete(network);
      const next = tasks.shift();
      waitingCount -= 1;
      if (tasks.length > 0) waiting.set(network, tasks);
      return next?.start();
    }
  }

  /** Makes room for one more task of a network; returns false if no other network has more waiting tasks. */
  function makeRoom(network: string): boolean {
    if (waitingCount < queue) return true;
    const [, longest] = [...waiting].reduce((a, b) => (b[1].length > a[1].length ? b : a), ['', [] as Waiting[]]);
    if (longest.length <= (waiting.get(network)?.length ?? 0) + 1) return false;
    longest.pop()?.reject();
    waitingCount -= 1;
    return true;
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
      const tasks = waiting.get(network) ?? [];
      tasks.push({ start: () => resolve(perform(task, network)), reject: () => resolve(undefined) });
      waiting.set(network, tasks);
      waitingCount += 1;
      return promise;
    },
  };
}

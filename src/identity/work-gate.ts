import type { WorkBounds } from './identity-options.ts';

/** Runs tasks a few at a time; undefined means that no place was free, and the task never runs. */
export interface WorkGate {
  /** An `urgent` task goes ahead of the others and is never turned away; its callers bound how many there are. */
  run<T>(task: () => Promise<T>, urgent: boolean, network: string): Promise<T | undefined>;
}

/** A task that waits: `start` with a place, `turnAway` without. */
interface Waiting {
  readonly start: () => void;
  readonly turnAway: () => void;
}

/**
 * A gate that lets `concurrency` tasks run and `queue` more wait, shared fairly between networks: they take turns, one
 * network never takes the last place to run, and where the queue is full the network that has most waiting makes room
 * for one that has less. So whoever floods the gate waits and is turned away, and everybody else gets in.
 */
export function createWorkGate(bounds: WorkBounds): WorkGate {
  const { concurrency, queue } = bounds;
  const share = Math.max(1, concurrency - 1);
  const urgentOnes: (() => void)[] = [];
  /** The networks that wait, the one whose turn is next in front. */
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

  /** Hands a place on, so that a newcomer cannot slip in between. */
  function startNext(): void {
    if (running >= concurrency) return;
    const urgent = urgentOnes.shift();
    if (urgent !== undefined) return urgent();
    for (const [network, tasks] of waiting) {
      if (!mayRun(network)) continue;
      // To the end, behind the networks whose turn has not come yet.
      waiting.delete(network);
      const next = tasks.shift();
      waitingCount -= 1;
      if (tasks.length > 0) waiting.set(network, tasks);
      return next?.start();
    }
  }

  /** Makes room for one more of a network; false where no other network has more waiting. */
  function makeRoom(network: string): boolean {
    if (waitingCount < queue) return true;
    const [, longest] = [...waiting].reduce((a, b) => (b[1].length > a[1].length ? b : a), ['', [] as Waiting[]]);
    if (longest.length <= (waiting.get(network)?.length ?? 0) + 1) return false;
    longest.pop()?.turnAway();
    waitingCount -= 1;
    return true;
  }

  return {
    async run<T>(task: () => Promise<T>, urgent: boolean, network: string): Promise<T | undefined> {
      if (urgent ? running < concurrency : mayRun(network)) return perform(task, urgent ? undefined : network);
      if (urgent) {
        const { promise, resolve } = Promise.withResolvers<Promise<T>>();
        urgentOnes.push(() => resolve(perform(task, undefined)));
        return promise;
      }
      if (!makeRoom(network)) return undefined;
      const { promise, resolve } = Promise.withResolvers<Promise<T> | undefined>();
      const tasks = waiting.get(network) ?? [];
      tasks.push({ start: () => resolve(perform(task, network)), turnAway: () => resolve(undefined) });
      waiting.set(network, tasks);
      waitingCount += 1;
      return promise;
    },
  };
}

/** Steps that wait for turns of the event loop of their own. */
export interface LaterTurns {
  /** Adds a step. The steps run in the order in which they were added. */
  add(step: () => void): void;
  /** Runs all steps now, including those that they add. */
  runAll(): void;
}

/**
 * Creates a queue for work that must not delay requests, such as reading a large response once more. Each step runs in
 * a turn of the event loop of its own, and never in the turn that added it. Steps must not throw.
 */
export function createLaterTurns(): LaterTurns {
  const waiting: (() => void)[] = [];
  let isScheduled = false;
  const schedule = () => {
    if (isScheduled || waiting.length === 0) return;
    isScheduled = true;
    inLaterTurn(runNext);
  };
  const runNext = () => {
    isScheduled = false;
    waiting.shift()?.();
    schedule();
  };
  return {
    add(step) {
      waiting.push(step);
      schedule();
    },
    runAll() {
      for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) step();
    },
  };
}

/** Waits for a later turn of the event loop: requests that are waiting are served first. */
export const laterTurn = (): Promise<void> => new Promise(inLaterTurn);

/** The time that work of many steps may take in one turn of the event loop, in milliseconds. */
const SLICE_MS = 0.5;

/** Creates a function to be awaited after each step of a long work: it waits for a later turn whenever one is due. */
export function createSlices(now = () => performance.now()): () => Promise<void> {
  let since = now();
  return async () => {
    if (now() - since < SLICE_MS) return;
    await laterTurn();
    since = now();
  };
}

// A single `setImmediate` would run before the current turn ends.
function inLaterTurn(step: () => void): void {
  setImmediate(() => setImmediate(step));
}

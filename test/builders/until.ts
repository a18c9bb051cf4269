import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

/**
 * Yields to the event loop until the condition is true. If it never becomes true, the test's time limit ends the wait.
 */
export async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns += 1) {
    // After the first few turns, the function pauses in each turn to free the processor for the work that the test is
    // waiting for. The pauses grow, because a little extra delay does not matter in a wait that is already long.
    await (turns < 20 ? turn() : wait(Math.min(5, turns / 20)));
  }
}

/**
 * Checks the condition repeatedly until it is true. Each check causes work for a server or another process, so the
 * function pauses between checks.
 */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await wait(20);
}

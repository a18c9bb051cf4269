import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

/**
 * Yields to the event loop until the condition is true. If that never happens, the time limit of the test ends the
 * wait.
 */
export async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns += 1) {
    // After the first turns, the function pauses in each turn, so that the processor is free for the work that the
    // test is waiting for. The pauses become longer, because a wait that is already long may become a little longer.
    await (turns < 20 ? turn() : wait(Math.min(5, turns / 20)));
  }
}

/**
 * Checks the condition again and again until it is true. Each check causes work for a server or another process, so
 * the function pauses between the checks.
 */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await wait(20);
}

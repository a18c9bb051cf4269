import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

/**
 * Yields to the event loop until the condition is true. If that never happens, the time limit of the test ends the
 * wait.
 */
export async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns += 1) {
    // After the first turns, the function pauses in each turn, so that the processor is free for the work that the
    // test is waiting for.
    await (turns < 20 ? turn() : wait(1));
  }
}

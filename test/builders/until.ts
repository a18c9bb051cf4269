import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

/**
 * Yields to the event loop until the condition is true. If it never becomes true, the test's own time limit ends the
 * wait.
 */
export async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns += 1) {
    // After the first turns, the loop pauses to free the processor for the work that it is waiting for.
    await (turns < 20 ? turn() : wait(1));
  }
}

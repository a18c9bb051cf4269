import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

/** Yields to the event loop until the condition is true; the test's own time limit ends an endless wait. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns += 1) {
    // After some turns, the loop pauses to leave the processor to the work it waits for.
    await (turns < 20 ? turn() : wait(1));
  }
}

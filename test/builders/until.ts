import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

/** Lets the event loop turn until the condition holds; the test's own time limit ends what never comes. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns += 1) {
    // What takes longer than some turns is left the processor that this loop would use up.
    await (turns < 20 ? turn() : wait(1));
  }
}

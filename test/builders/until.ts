import { setImmediate as turn } from 'node:timers/promises';

/** Lets the event loop turn until the condition holds; the test's own time limit ends what never comes. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

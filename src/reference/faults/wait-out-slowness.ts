import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.ts';

const DEFAULT_MS = 2000;

/** Waits as long as the slow faults ask; false when the signal ended the wait, as nobody listens any more. */
export async function waitOutSlowness(faults: readonly Fault[], signal: AbortSignal): Promise<boolean> {
  for (const { name, parameter } of faults) {
    if (name !== 'slow') continue;
    try {
      await delay(Number(parameter ?? DEFAULT_MS), undefined, { signal });
    } catch {
      return false;
    }
  }
  return true;
}

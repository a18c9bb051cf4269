import { setTimeout as delay } from 'node:timers/promises';
import { createSeededRandom, type SeededRandom } from '../../lib/seeded-random.ts';
import { DRIFT_KINDS, type FaultName } from './fault-names.ts';

/** Decides which of the faults hit a request. */
export interface FaultPlan {
  /** The faults that hit this request, in the order in which they were switched on; `url` is path and query below the base path. */
  readonly draw: (operation: number | undefined, url: string) => readonly Fault[];
}

function matches({ target }: Fault, operation: number | undefined, url: string): boolean {
  if (target === undefined) return true;
  return typeof target === 'number' ? target === operation : target.test(url);
}

/** What a fault is for one request: a drift is another each time. */
function drawn(fault: Fault, random: SeededRandom): Fault {
  return fault.name === 'drift' ? { ...fault, name: random.pick(DRIFT_KINDS) } : fault;
}

/** Creates a plan; each fault counts its own matching requests, so the same seed and requests give the same hits. */
export function createFaultPlan(faults: readonly Fault[], seed: number): FaultPlan {
  const armed = faults.map((fault, index) => ({ fault, random: createSeededRandom(seed * 31 + index + 1) }));
  return {
    draw: (operation, url) =>
      armed
        .filter(({ fault, random }) => matches(fault, operation, url) && random.chance(fault.share))
        .map(({ fault, random }) => drawn(fault, random)),
  };
}

/** A fault that is switched on. */
export interface Fault {
  readonly name: FaultName;
  readonly parameter?: string;
  /** An operation number, or what the path with its query must match; every request when absent. */
  readonly target?: number | RegExp;
  /** The share of matching requests that it hits, above 0 and up to 1. */
  readonly share: number;
}

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

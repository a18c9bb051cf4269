import { createLruMap } from '../../lib/bounded-maps.ts';
import type { Clock } from '../../lib/clock.ts';

/**
 * The operations whose responses had a wrong content coding. Their requests ask for no coding, so that no later request
 * has to be sent twice.
 */
interface CodingMemory {
  asksForNone(operation: string): boolean;
  remember(operation: string): void;
}

/** How long an operation is remembered, in milliseconds. Afterwards, the server may have been repaired. */
const REMEMBERED_MS = 60 * 60_000;
const MAX_OPERATIONS = 1000;

/** Creates an empty memory. */
export function createCodingMemory(clock: Clock): CodingMemory {
  const until = createLruMap<string, number>(MAX_OPERATIONS);
  return {
    asksForNone: (operation) => clock() < (until.get(operation) ?? 0),
    remember: (operation) => void until.set(operation, clock() + REMEMBERED_MS),
  };
}

import type { Clock } from '../../../lib/clock.ts';
import { createLruMap } from '../../../lib/bounded-maps.ts';
import type { SharedMap } from '../sharing.ts';

const MAX_VALUES = 1_000;

/** Creates a map that only this process uses. */
export function createOwnMap(clock: Clock): SharedMap {
  const values = createLruMap<string, { readonly value: Buffer; readonly since: number; readonly ms: number }>(
    MAX_VALUES,
  );
  return {
    isShared: () => false,
    get(key) {
      const found = values.get(key);
      if (found !== undefined && Math.abs(clock() - found.since) < found.ms) return found.value;
      values.delete(key);
      return undefined;
    },
    set: (key, value, ms) => void values.set(key, { value, since: clock(), ms }),
    drop: (key) => void values.delete(key),
  };
}

import type { Clock } from '../../../lib/clock.ts';
import { createLruMap } from '../../../lib/bounded-maps.ts';
import type { Counters } from '../sharing.ts';

/** Creates counters that count only in this process. */
export function createOwnCounters(clock: Clock, max: number): Counters {
  const windows = createLruMap<string, { count: number; readonly endsAt: number }>(max);
  const windowOf = (key: string, windowMs: number) => {
    const found = windows.get(key);
    const now = clock();
    // If the clock was set back, a window must not last longer than intended.
    return found !== undefined && now < found.endsAt && found.endsAt <= now + windowMs
      ? found
      : { count: 0, endsAt: now + windowMs };
  };
  return {
    add(key, windowMs) {
      const window = windowOf(key, windowMs);
      window.count += 1;
      windows.set(key, window);
      return { count: window.count, leftMs: window.endsAt - clock() };
    },
    read(key, windowMs) {
      const { count, endsAt } = windowOf(key, windowMs);
      return { count: count + 1, leftMs: endsAt - clock() };
    },
  };
}

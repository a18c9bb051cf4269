import { type EntryHistory, HISTORY_HOURS } from '../../model/ledger-entry.ts';

/** Counts by release and hour. */
export interface HourlyCounts {
  add(release: string, hour: number, count: number): void;
  /** Returns the total for each release, starting with the given hour. Omits releases without counts. */
  sums(sinceHour: number, release: string | undefined): Record<string, number>;
  /**
   * Returns the counts for the most recent hours, and the release with the earliest hour. `hour` is the current hour.
   */
  history(hour: number): EntryHistory;
  /** Removes all hours before the given one. */
  forget(beforeHour: number): void;
}

/** The maximum number of hours per release in memory. Older hours are merged into the oldest stored one. */
const MAX_HOURS = 24 * 14;

/** Creates counts in memory. */
export function createHourlyCounts(): HourlyCounts {
  const releases = new Map<string, Map<number, number>>();
  return {
    add(release, hour, count) {
      const hours = releases.get(release) ?? new Map<number, number>();
      releases.set(release, hours);
      hours.set(hour, (hours.get(hour) ?? 0) + count);
      if (hours.size > MAX_HOURS) mergeOldest(hours);
    },
    sums(sinceHour, release) {
      const sums: Record<string, number> = {};
      for (const [label, hours] of releases) {
        if (release !== undefined && label !== release) continue;
        let sum = 0;
        for (const [hour, count] of hours) if (hour >= sinceHour) sum += count;
        if (sum > 0) sums[label] = sum;
      }
      return sums;
    },
    history(hour) {
      const recent = Array.from({ length: HISTORY_HOURS }, () => 0);
      let first: { readonly label: string; readonly hour: number } | undefined;
      for (const [label, hours] of releases)
        for (const [at, count] of hours) {
          const place = at - hour + HISTORY_HOURS - 1;
          if (place >= 0 && place < HISTORY_HOURS) recent[place] = (recent[place] ?? 0) + count;
          if (first === undefined || at < first.hour) first = { label, hour: at };
        }
      return { hours: recent, firstRelease: first?.label };
    },
    forget(beforeHour) {
      for (const [label, hours] of releases) {
        for (const hour of hours.keys()) if (hour < beforeHour) hours.delete(hour);
        if (hours.size === 0) releases.delete(label);
      }
    },
  };
}

function mergeOldest(hours: Map<number, number>): void {
  const [oldest = 0, next = 0] = [...hours.keys()].sort((a, b) => a - b);
  hours.set(oldest, (hours.get(oldest) ?? 0) + (hours.get(next) ?? 0));
  hours.delete(next);
}

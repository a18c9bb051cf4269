import type { Clock } from '../lib/clock.ts';

/** How finely and how far back the history reaches. */
export interface TrafficHistoryOptions {
  readonly stepSeconds: number;
  readonly steps: number;
}

/** What was counted in one step of time. */
export interface TrafficStep {
  /** Epoch milliseconds of the step's beginning. */
  readonly at: number;
  readonly counts: TrafficArrays;
}

/** A stretch of the history, the oldest step first. */
export interface TrafficWindow extends Omit<TrafficCounts, 'counts'> {
  readonly stepSeconds: number;
  /** Epoch milliseconds: the beginning of what is covered; never before the history began. */
  readonly since: number;
  /** Epoch milliseconds. */
  readonly until: number;
  readonly steps: readonly TrafficStep[];
}

/** Remembers how the counts of traffic grew. */
export interface TrafficHistory {
  /** Takes in what was counted since the last time; to be called about once a step. */
  sample(): void;
  /** The last so many seconds up to this instant; bounded by what is remembered. */
  window(seconds: number): TrafficWindow;
}

/** An hour in steps of five seconds. */
export const TRAFFIC_HISTORY: TrafficHistoryOptions = { stepSeconds: 5, steps: 720 };

const PARTS = ['requests', 'duration', 'cache', 'exchange', 'failures'] as const;

/**
 * Creates a ring of steps with the growth of every count, in one block of memory of fixed size. Nothing is done per request: a
 * sample is a subtraction per count.
 */
export function createTrafficHistory(
  traffic: TrafficCounts,
  clock: Clock,
  { stepSeconds, steps }: TrafficHistoryOptions = TRAFFIC_HISTORY,
): TrafficHistory {
  const stepMs = stepSeconds * 1000;
  const sources = PARTS.map((part) => traffic.counts[part]);
  const width = sources.reduce((sum, { length }) => sum + length, 0);
  // Untouched pages of it take no memory, so that a young process has not paid for the whole hour.
  const ring = new Uint32Array(width * steps);
  const seen = new Float64Array(width);
  const beganAt = clock();
  let current = Math.floor(beganAt / stepMs);

  const rowOf = (step: number) => {
    const place = ((step % steps) + steps) % steps;
    return ring.subarray(place * width, (place + 1) * width);
  };
  const moveTo = (step: number) => {
    for (let gone = Math.min(step - current, steps); gone > 0; gone--) rowOf(step - gone + 1).fill(0);
    current = step;
  };
  const sample = () => {
    const now = Math.floor(clock() / stepMs);
    // A clock that was set back goes on filling the step it had reached.
    if (now > current) moveTo(now);
    const row = rowOf(current);
    let place = 0;
    for (const source of sources) {
      for (let index = 0; index < source.length; index++, place++) {
        const count = source[index] ?? 0;
        row[place] = (row[place] ?? 0) + (count - (seen[place] ?? 0));
        seen[place] = count;
      }
    }
  };
  const stepAt = (step: number): TrafficStep => {
    const row = rowOf(step);
    let from = 0;
    const parts = PARTS.map((part, index) => {
      const values = row.slice(from, (from += sources[index]?.length ?? 0));
      return [part, values] as const;
    });
    return { at: step * stepMs, counts: Object.fromEntries(parts) as unknown as TrafficArrays };
  };

  return {
    sample,
    window(seconds) {
      sample();
      const wanted = Math.min(steps, Math.max(1, Math.ceil(seconds / stepSeconds)));
      const first = Math.max(current - wanted + 1, Math.floor(beganAt / stepMs));
      const { counts: _counts, ...names } = traffic;
      return {
        ...names,
        stepSeconds,
        since: Math.max(first * stepMs, beganAt),
        until: Math.max(clock(), first * stepMs),
        steps: Array.from({ length: current - first + 1 }, (_, index) => stepAt(first + index)),
      };
    },
  };
}

/** What the counts of traffic are counted in: each array grows in place, row by row. */
export interface TrafficArrays {
  /** A row per operation, a column per status class. */
  readonly requests: ArrayLike<number>;
  /** A row per operation, a column per bucket of seconds and one for the rest. */
  readonly duration: ArrayLike<number>;
  /** A row per kept operation, a column per result of the cache. */
  readonly cache: ArrayLike<number>;
  /** Exchanges with the upstream, as `duration` with buckets of their own. */
  readonly exchange: ArrayLike<number>;
  /** One per kind of failure. */
  readonly failures: ArrayLike<number>;
}

/** The traffic of operations as the metrics count it, with what its rows and columns mean. */
export interface TrafficCounts {
  /** Ids of the operations, and the name for everything outside the contract at the end. */
  readonly operations: readonly string[];
  /** Ids of the operations whose pages can be kept. */
  readonly keptOperations: readonly string[];
  readonly failureKinds: readonly string[];
  /** Upper bounds in seconds. */
  readonly buckets: { readonly duration: readonly number[]; readonly exchange: readonly number[] };
  readonly counts: TrafficArrays;
}

import type { TrafficArrays, TrafficCounts } from '../../engine/telemetry/traffic-counts.ts';
import type { Clock } from '../../lib/clock.ts';

/** The resolution and length of the history. */
interface TrafficHistoryOptions {
  readonly stepSeconds: number;
  readonly steps: number;
}

/** The counts for one time step. */
export interface TrafficStep {
  /** The start of the step, in epoch milliseconds. */
  readonly at: number;
  readonly counts: TrafficArrays;
}

/** A section of the history, with the oldest step first. */
export interface TrafficWindow extends Omit<TrafficCounts, 'counts'> {
  readonly stepSeconds: number;
  /** The start of the section, in epoch milliseconds. It is never earlier than the start of the history. */
  readonly since: number;
  /** The end of the section, in epoch milliseconds. */
  readonly until: number;
  readonly steps: readonly TrafficStep[];
}

/** Records how the traffic counts grow over time. */
export interface TrafficHistory {
  /** Adds the increase in the counts since the last call. Call this function about once per step. */
  sample(): void;
  /** Returns the last `seconds` seconds of the history, or the whole history if it is shorter. */
  window(seconds: number): TrafficWindow;
  /** Begins to record at each step. Does nothing if it has begun. */
  start(): void;
  close(): Promise<void>;
  /** Starts recording these counts. The history starts over unless they are already being recorded. */
  follow(traffic: TrafficCounts): void;
}

/** The default history: one hour in five-second steps. */
export const TRAFFIC_HISTORY: TrafficHistoryOptions = { stepSeconds: 5, steps: 720 };

const PARTS = ['requests', 'duration', 'cache', 'exchange', 'failures'] as const;

const sourcesOf = ({ counts }: TrafficCounts) => PARTS.map((part) => counts[part]);

/**
 * Creates a ring buffer of steps in a single memory block of fixed size. Each step stores how much each count has
 * grown. Requests cost nothing extra, and a sample costs one subtraction per count.
 */
export function createTrafficHistory(
  given: TrafficCounts,
  clock: Clock,
  { stepSeconds, steps }: TrafficHistoryOptions = TRAFFIC_HISTORY,
): TrafficHistory {
  const stepMs = stepSeconds * 1000;
  let traffic = given;
  let sources = sourcesOf(traffic);
  let width = sources.reduce((sum, { length }) => sum + length, 0);
  // The ring is created when it is first needed, and the system allocates its memory pages on first use. A new process
  // therefore does not yet occupy the memory for the whole history.
  let ring: Uint32Array | undefined;
  let seen = new Float64Array(width);
  let beganAt = clock();
  let current = Math.floor(beganAt / stepMs);

  const rowOf = (step: number) => {
    const place = ((step % steps) + steps) % steps;
    ring ??= new Uint32Array(width * steps);
    return ring.subarray(place * width, (place + 1) * width);
  };
  const moveTo = (step: number) => {
    for (let gone = Math.min(step - current, steps); gone > 0; gone--) rowOf(step - gone + 1).fill(0);
    current = step;
  };
  const sample = () => {
    const now = Math.floor(clock() / stepMs);
    // If the clock has been set back, samples are added to the most recent step.
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

  let timer: NodeJS.Timeout | undefined;
  return {
    sample,
    start() {
      timer ??= setInterval(sample, stepMs).unref();
    },
    close() {
      clearInterval(timer);
      return Promise.resolve();
    },
    follow(next) {
      if (next === traffic) return;
      traffic = next;
      sources = sourcesOf(traffic);
      width = sources.reduce((sum, { length }) => sum + length, 0);
      ring = undefined;
      // Counts from before this moment are not part of the history.
      seen = Float64Array.from(sources.flatMap((source) => Array.from(source)));
      beganAt = clock();
      current = Math.floor(beganAt / stepMs);
    },
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

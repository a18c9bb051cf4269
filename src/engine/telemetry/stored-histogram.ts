import type { MetricEntry } from './metric-list.ts';
import { histogramSamples, labelsOf, type Sample, type StoredMetric } from './stored-metric.ts';

/** A histogram of durations in seconds. It has one label, whose values are all known in advance. */
export interface StoredHistogram extends StoredMetric {
  /**
   * Records one observation. Label values that are not listed and times that are not finite are ignored. If the span
   * in `traceparent` is sampled, it becomes the exemplar of its bucket. `startedAt` is in epoch milliseconds.
   */
  observe(value: string, seconds: number, traceparent?: string, startedAt?: number): void;
  /** The upper bounds, in seconds. An additional column counts the observations above the last bound. */
  readonly buckets: readonly number[];
  /**
   * The number of observations in each bucket (not cumulative). There is one row per label value, one column per
   * bucket, and one more column for all longer durations. `relabel` replaces this array.
   */
  readonly counts: Readonly<Float64Array>;
  /** Replaces the label's values. A series that already existed continues from its observations. */
  relabel(values: readonly string[], recordsExemplars?: boolean): void;
}

/** The most recent sampled observation in a bucket. */
interface Observation {
  readonly traceparent: string;
  readonly seconds: number;
  /** The time at which the measurement ended, in epoch milliseconds. */
  readonly at: number;
}

/** Returns the number of series of a histogram: the buckets, the +Inf bucket, the sum and the count, for each value. */
export function histogramSeries(values: readonly string[], buckets: readonly number[]): number {
  return values.length * (buckets.length + 3);
}

/**
 * Creates a histogram. The metrics library would check and hash the labels of every observation, even if they were
 * bound in advance.
 */
export function createStoredHistogram(
  entry: MetricEntry,
  values: readonly string[],
  buckets: readonly number[],
  recordsExemplars = false,
): StoredHistogram {
  const width = buckets.length + 1;
  let rows: ReadonlyMap<string, number> = new Map();
  let counts = new Float64Array(0);
  let sums = new Float64Array(0);
  let exemplars: (Observation | undefined)[] | undefined;
  /** The samples of each row: its buckets, its sum and its count. Created for the first scrape. */
  let samples: Sample[] | undefined;

  const relabel = (next: readonly string[], withExemplars = exemplars !== undefined) => {
    const before = next.map((value) => rows.get(value) ?? -1);
    const keep = <Item>(from: ArrayLike<Item>, size: number) =>
      before.flatMap((row) => Array.from({ length: size }, (_, column) => from[row * size + column]));
    exemplars = withExemplars ? keep(exemplars ?? [], width) : undefined;
    counts = Float64Array.from(keep(counts, width), (count) => count ?? 0);
    sums = Float64Array.from(keep(sums, 1), (sum) => sum ?? 0);
    rows = new Map(next.map((value, row) => [value, row]));
    samples = undefined;
  };
  relabel(values, recordsExemplars);

  const zeros = { bounds: buckets, buckets: buckets.map(() => 0), sum: 0, count: 0 };
  const samplesOf = (value: string) => histogramSamples(entry, labelsOf(entry, [value]), zeros);
  return {
    entry,
    get series() {
      return histogramSeries([...rows.keys()], buckets);
    },
    buckets,
    get counts() {
      return counts;
    },
    relabel,
    observe(value, seconds, traceparent, startedAt = 0) {
      const row = rows.get(value);
      if (row === undefined || !Number.isFinite(seconds)) return;
      let column = 0;
      while (column < buckets.length && seconds > (buckets[column] ?? 0)) column += 1;
      const at = row * width + column;
      counts[at] = (counts[at] ?? 0) + 1;
      sums[row] = (sums[row] ?? 0) + seconds;
      if (exemplars !== undefined && traceparent?.endsWith('-01') === true)
        exemplars[at] = { traceparent, seconds, at: startedAt + seconds * 1000 };
    },
    samples() {
      samples ??= [...rows.keys()].flatMap(samplesOf);
      const lines = samples.values();
      const put = (value: number, exemplar?: Observation) => {
        const sample = lines.next().value;
        if (sample === undefined) return;
        sample.value = value;
        sample.exemplar = exemplar && exemplarOf(exemplar);
      };
      for (const row of rows.values()) {
        let count = 0;
        for (let at = row * width; at < (row + 1) * width; at += 1) put((count += counts[at] ?? 0), exemplars?.[at]);
        put(sums[row] ?? 0);
        put(count);
      }
      return samples;
    },
  };
}

function exemplarOf({ traceparent, seconds, at }: Observation) {
  const labelSet = { trace_id: traceparent.slice(3, 35), span_id: traceparent.slice(36, 52) };
  return { labelSet, value: seconds, timestamp: at / 1000 };
}

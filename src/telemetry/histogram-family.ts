import type { MetricEntry } from './metric-list.ts';
import { headText, labelText } from './sample-text.ts';

/** A histogram of seconds with one label whose values are all known at start. */
export interface HistogramFamily {
  /** Observes for one label value; values that are not listed and times that are not numbers are left out. */
  observe(value: string, seconds: number): void;
  readonly series: number;
  /** What a scrape shows of it. */
  text(): string;
  /** Upper bounds in seconds; what is above the last one has a column of its own. */
  readonly buckets: readonly number[];
  /** Observations as they stand, not cumulative: a row per label value, a column per bucket and one for the rest. */
  readonly counts: Readonly<Float64Array>;
}

/** Upper bounds in seconds of what a request takes: a cache hit takes less than the first, the upstream's total deadline may be more than the last. */
export const REQUEST_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Upper bounds in seconds of what the upstream takes, which is never as quick as memory. */
export const UPSTREAM_BUCKETS = [0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/**
 * A histogram over the values of its one label. The library checks and hashes labels at every observation, children that it bound
 * before included, so counts live in arrays here, beside the text that stands before each of them.
 */
export function createHistogramFamily(
  entry: MetricEntry,
  values: readonly string[],
  buckets: readonly number[],
): HistogramFamily {
  const rows = new Map(values.map((value, row) => [value, row]));
  const width = buckets.length + 1;
  const counts = new Float64Array(values.length * width);
  const sums = new Float64Array(values.length);
  const head = headText(entry);
  const bounds = [...buckets, '+Inf'];
  const names = values.map((value) => ({
    buckets: bounds.map((le) => `${entry.name}_bucket${labelText(entry.labels, [value], `le="${le}"`)} `),
    sum: `${entry.name}_sum${labelText(entry.labels, [value])} `,
    count: `${entry.name}_count${labelText(entry.labels, [value])} `,
  }));

  return {
    // The buckets, the one for infinity, the sum and the count.
    series: values.length * (buckets.length + 3),
    buckets,
    counts,
    observe(value, seconds) {
      const row = rows.get(value);
      if (row === undefined || !Number.isFinite(seconds)) return;
      let column = 0;
      while (column < buckets.length && seconds > (buckets[column] ?? 0)) column += 1;
      const at = row * width + column;
      counts[at] = (counts[at] ?? 0) + 1;
      sums[row] = (sums[row] ?? 0) + seconds;
    },
    text() {
      let text = head;
      names.forEach((name, row) => {
        let count = 0;
        name.buckets.forEach((bucket, column) => {
          count += counts[row * width + column] ?? 0;
          text += `${bucket}${count}\n`;
        });
        text += `${name.sum}${sums[row] ?? 0}\n${name.count}${count}\n`;
      });
      return text;
    },
  };
}

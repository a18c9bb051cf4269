import type { MetricEntry } from './metric-list.ts';

/** A metric whose numbers Portico stores. The metrics library reads and formats them on each scrape. */
export interface StoredMetric {
  readonly entry: MetricEntry;
  /** The number of series, each of which is one line of a scrape. */
  readonly series: number;
  /** Returns the current value of each series. The next call may reuse the objects. */
  samples(): readonly Sample[];
}

/** The value of a series, in the form in which the metrics library formats it. */
export interface Sample {
  /** The labels that distinguish this series from others with the same `sharedLabels`. */
  readonly labels: Labels;
  /** The other labels. The library formats each of these objects only once, so they are the same on each scrape. */
  readonly sharedLabels: Labels;
  value: number;
  /** The name of the series, if it is not the name of the metric. */
  readonly metricName?: string;
  exemplar?: Exemplar | undefined;
}

export type Labels = Readonly<Record<string, string>>;

/** A sampled trace of which a series shows one measurement. */
interface Exemplar {
  readonly labelSet: Labels;
  readonly value: number;
  /** The time at which the measurement ended, in epoch seconds. */
  readonly timestamp: number;
}

/** The values that each label can have, in the order of the labels in the metric's entry. */
export type LabelValues = readonly (readonly string[])[];

/** The label values of a series, in the order of the labels in the metric's entry, and its value. */
export type MetricRow = readonly [labels: readonly string[], value: number | HistogramValue];

/** What a histogram shows of one series. */
export interface HistogramValue {
  /** The upper bounds of the buckets, without +Inf. */
  readonly bounds: readonly number[];
  /** The number of observations up to each bound. */
  readonly buckets: readonly number[];
  readonly sum: number;
  readonly count: number;
}

export const NO_LABELS: Labels = {};

/** Returns all combinations of label values. The last label varies fastest. */
export function labelSets(values: LabelValues): string[][] {
  return values.reduce<string[][]>((all, next) => all.flatMap((set) => next.map((value) => [...set, value])), [[]]);
}

/** Returns the labels of a series by name. */
export function labelsOf({ labels }: Pick<MetricEntry, 'labels'>, values: readonly string[]): Labels {
  return Object.fromEntries(labels.map((label, index) => [label, values[index] ?? '']));
}

/**
 * Creates a metric that is read on each scrape. `rows` returns the value of each series; it should return the same
 * array of label values each time, so that the labels need not be formatted again.
 */
export function createReadMetric(entry: MetricEntry, rows: () => readonly MetricRow[]): StoredMetric {
  const known = new WeakMap<readonly string[], Labels>();
  const sharedLabelsOf = (values: readonly string[]) => {
    const labels = known.get(values) ?? labelsOf(entry, values);
    known.set(values, labels);
    return labels;
  };
  // Reading can be expensive, so the number of series is that of the latest scrape.
  let series = entry.labels.length === 0 ? 1 : undefined;
  return {
    entry,
    get series() {
      return (series ??= this.samples().length);
    },
    samples() {
      const samples = rows().flatMap(([values, value]): Sample[] => {
        const sharedLabels = sharedLabelsOf(values);
        if (typeof value === 'number') return [{ labels: NO_LABELS, sharedLabels, value }];
        return histogramSamples(entry, sharedLabels, value);
      });
      series = samples.length;
      return samples;
    },
  };
}

/** Returns the samples of one series of a histogram: its buckets, its sum and its count. */
export function histogramSamples(
  { name }: Pick<MetricEntry, 'name'>,
  sharedLabels: Labels,
  { bounds, buckets, sum, count }: HistogramValue,
): Sample[] {
  const sample = (suffix: string, value: number, labels: Labels = NO_LABELS): Sample => {
    return { labels, sharedLabels, value, metricName: `${name}_${suffix}` };
  };
  return [...bounds.map(String), '+Inf']
    .map((le, at) => sample('bucket', buckets[at] ?? count, { le }))
    .concat(sample('sum', sum), sample('count', count));
}

/** Returns the total number of series of some metrics. */
export function seriesOf(metrics: readonly Pick<StoredMetric, 'series'>[]): number {
  return metrics.reduce((sum, { series }) => sum + series, 0);
}

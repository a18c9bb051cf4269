import { AUTHENTICATION_CODES } from '../errors/catalogue.ts';
import type { CacheTrace, CheckVerdict, StoreRefusal, Trace } from '../model/trace.ts';
import type { UpstreamFailureKind } from '../model/upstream-failure.ts';
import type { Violation } from '../model/violation.ts';
import type { MetricEntry } from './metric-list.ts';

/** The counts of a metric. A new family for the same metric can continue from them. */
interface Counts {
  readonly names: readonly string[];
  readonly counts: Readonly<Float64Array>;
  readonly sums?: Readonly<Float64Array>;
  /** The exemplars of a histogram, in the order of `counts`. Undefined if exemplars are not recorded. */
  readonly exemplars?: readonly (Exemplar | undefined)[] | undefined;
}

/** A counter whose label sets are all known in advance. Incrementing a series is a single array write. */
export interface CounterFamily {
  /**
   * Increments the series with these label values, given in the order of the labels in the metric's entry. A value
   * that is not listed is counted under `other`, if that series exists.
   */
  inc(first?: string, second?: string, third?: string, fourth?: string): void;
  readonly series: number;
  /** Returns this metric in the exposition format. A counter has no exemplars. */
  text(withExemplars?: boolean): string;
  /** The current counts, one for each combination of label values. The last label varies fastest. */
  readonly counts: Readonly<Float64Array>;
  /** The names of the series with their labels, in the order of `counts`. */
  readonly names: readonly string[];
  /** Adds the counts for the same series from another family. */
  add(other: Counts): void;
}

/**
 * Creates a counter with one series for each combination of its label values. The counts are stored here, in an array
 * next to their formatted labels, because the metrics library would hash the labels on every increment and format them
 * on every scrape.
 */
export function createCounterFamily(entry: MetricEntry, axes: readonly (readonly string[])[]): CounterFamily {
  const positions = axes.map((axis) => new Map(axis.map((value, index) => [value, index])));
  const counts = new Float64Array(axes.reduce((product, axis) => product * axis.length, 1));
  /** The names of the series and the index of each name. Both are created when they are first needed. */
  let names: readonly string[] | undefined;
  let places: Map<string, number> | undefined;
  const namesOf = () => (names ??= labelSets(axes).map((values) => `${entry.name}${labelText(entry.labels, values)} `));
  const head = headText(entry);
  return {
    series: counts.length,
    counts,
    get names() {
      return namesOf();
    },
    add(other) {
      places ??= new Map(namesOf().map((name, index) => [name, index]));
      for (const [from, name] of other.names.entries()) {
        const index = places.get(name);
        if (index !== undefined) counts[index] = (counts[index] ?? 0) + (other.counts[from] ?? 0);
      }
    },
    inc(first, second, third, fourth) {
      let index = step(0, positions[0], first);
      if (positions.length > 1) index = step(index, positions[1], second);
      if (positions.length > 2) index = step(index, positions[2], third);
      if (positions.length > 3) index = step(index, positions[3], fourth);
      if (index >= 0) counts[index] = (counts[index] ?? 0) + 1;
    },
    text() {
      let text = head;
      for (const [index, name] of namesOf().entries()) text += `${name}${counts[index] ?? 0}\n`;
      return text;
    },
  };
}

/** Returns all combinations of label values. The last label varies fastest. */
function labelSets(axes: readonly (readonly string[])[]): string[][] {
  return axes.reduce<string[][]>((all, axis) => all.flatMap((set) => axis.map((value) => [...set, value])), [[]]);
}

/** A metric that can be written in the exposition format, and the number of its series. */
interface WritableMetric {
  readonly series: number;
  text(): string;
}

/** Returns the total number of series in the given metrics. */
export function seriesOf(metrics: readonly Pick<WritableMetric, 'series'>[]): number {
  return metrics.reduce((sum, { series }) => sum + series, 0);
}

/** One value for each label, in the order of the labels. */
type LabelSet<Axes extends readonly (readonly string[])[]> = { -readonly [Index in keyof Axes]: Axes[Index][number] };

/**
 * Creates a gauge with one series for each combination of its label values. `read` is called on each scrape. The
 * function that it returns provides the value of a series, or undefined to omit the series.
 */
export function createGaugeFamily<const Axes extends readonly (readonly string[])[]>(
  entry: MetricEntry,
  axes: Axes,
  read: () => (...values: LabelSet<Axes>) => number | undefined,
): WritableMetric {
  const sets = labelSets(axes) as LabelSet<Axes>[];
  const series = sets.map((values) => ({ values, name: `${entry.name}${labelText(entry.labels, values)} ` }));
  return {
    series: series.length,
    text() {
      const valueOf = read();
      const lines = series.map(({ values, name }) => {
        const value = valueOf(...values);
        return value === undefined ? '' : `${name}${value}\n`;
      });
      return headText(entry) + lines.join('');
    },
  };
}

/** Extends a series' index by one label value. Returns -1 if the series does not exist. */
function step(index: number, places: ReadonlyMap<string, number> | undefined, value: string | undefined): number {
  const place = places?.get(value ?? '') ?? places?.get('other');
  return index < 0 || places === undefined || place === undefined ? -1 : index * places.size + place;
}

/** A histogram of durations in seconds. It has one label, whose values are all known at startup. */
export interface HistogramFamily {
  /**
   * Records one observation. Label values that are not listed and times that are not finite are ignored. If the span
   * in `traceparent` is sampled, it becomes the exemplar of its bucket. `startedAt` is in epoch milliseconds.
   */
  observe(value: string, seconds: number, traceparent?: string, startedAt?: number): void;
  readonly series: number;
  /** Returns this metric in the exposition format, with or without exemplars. */
  text(withExemplars?: boolean): string;
  /** The upper bounds, in seconds. An additional column counts the observations above the last bound. */
  readonly buckets: readonly number[];
  /**
   * The number of observations in each bucket (not cumulative). There is one row per label value, one column per
   * bucket, and one more column for all longer durations.
   */
  readonly counts: Readonly<Float64Array>;
  /** Each row's label value. */
  readonly names: readonly string[];
  /** The sum of each row's observations, in seconds. */
  readonly sums: Readonly<Float64Array>;
  readonly exemplars: readonly (Exemplar | undefined)[] | undefined;
  /** Adds another histogram's observations for the same rows. Both histograms must have the same buckets. */
  add(other: Counts): void;
}

/**
 * Upper bounds for request durations, in seconds. A cache hit takes less than the first bound. A request that reaches
 * the upstream's total deadline can take longer than the last bound.
 */
export const REQUEST_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/**
 * Upper bounds for upstream durations, in seconds. The first bound is higher than the one for requests, because no
 * exchange is as fast as a cache hit.
 */
export const UPSTREAM_BUCKETS = [0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/**
 * Creates a histogram with one series for each value of its only label. The counts are stored here, in arrays next to
 * their formatted labels, because the metrics library would check and hash the labels for every observation, even if
 * they were bound in advance.
 */
export function createHistogramFamily(
  entry: MetricEntry,
  values: readonly string[],
  buckets: readonly number[],
  recordsExemplars = false,
): HistogramFamily {
  const rows = new Map(values.map((value, row) => [value, row]));
  const width = buckets.length + 1;
  const counts = new Float64Array(values.length * width);
  const sums = new Float64Array(values.length);
  const exemplars: (Exemplar | undefined)[] | undefined = recordsExemplars ? [] : undefined;
  const head = headText(entry);
  const bounds = [...buckets, '+Inf'];
  const lines = values.map((value) => ({
    buckets: bounds.map((le) => `${entry.name}_bucket${labelText(entry.labels, [value], `le="${le}"`)} `),
    sum: `${entry.name}_sum${labelText(entry.labels, [value])} `,
    count: `${entry.name}_count${labelText(entry.labels, [value])} `,
  }));

  return {
    // The lines of a series: the buckets, the +Inf bucket, the sum and the count.
    series: values.length * (buckets.length + 3),
    buckets,
    counts,
    names: values,
    sums,
    exemplars,
    add(other) {
      other.names.forEach((value, from) => {
        const row = rows.get(value);
        if (row === undefined) return;
        sums[row] = (sums[row] ?? 0) + (other.sums?.[from] ?? 0);
        for (let column = 0; column < width; column += 1) {
          const at = row * width + column;
          counts[at] = (counts[at] ?? 0) + (other.counts[from * width + column] ?? 0);
          const exemplar = other.exemplars?.[from * width + column];
          if (exemplars !== undefined && exemplar !== undefined) exemplars[at] = exemplar;
        }
      });
    },
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
    text(withExemplars = false) {
      let text = head;
      lines.forEach((line, row) => {
        let count = 0;
        line.buckets.forEach((bucket, column) => {
          const at = row * width + column;
          count += counts[at] ?? 0;
          text += `${bucket}${count}${withExemplars ? exemplarText(exemplars?.[at]) : ''}\n`;
        });
        text += `${line.sum}${sums[row] ?? 0}\n${line.count}${count}\n`;
      });
      return text;
    },
  };
}

/** The span of the most recent sampled observation in a bucket. */
interface Exemplar {
  readonly traceparent: string;
  readonly seconds: number;
  /** The time at which the measurement ended, in epoch milliseconds. */
  readonly at: number;
}

/** Returns an exemplar in the OpenMetrics format, or an empty string if there is none. */
function exemplarText(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return '';
  const { traceparent, seconds, at } = exemplar;
  const labels = `trace_id="${traceparent.slice(3, 35)}",span_id="${traceparent.slice(36, 52)}"`;
  return ` # {${labels}} ${seconds} ${at / 1000}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

/**
 * Returns the labels of one series in the text format, beginning with `extra`. Returns an empty string if there are
 * none.
 */
export function labelText(names: readonly string[], values: readonly string[], extra = ''): string {
  const pairs = names.map(
    (name, index) => `${name}="${(values[index] ?? '').replace(/[\\"\n]/g, (c) => ESCAPES[c] ?? c)}"`,
  );
  const all = extra === '' ? pairs : [extra, ...pairs];
  return all.length === 0 ? '' : `{${all.join(',')}}`;
}

/** Returns the HELP and TYPE lines for a metric. */
export function headText({ name, help, type }: MetricEntry): string {
  return `# HELP ${name} ${help.replace(/[\\\n]/g, (c) => ESCAPES[c] ?? c)}\n# TYPE ${name} ${type}\n`;
}

/** The value of the `operation` label for all undocumented paths. */
export const UNDOCUMENTED = 'undocumented';

/** The value of the `operation` label for all operations that have no separate series (see `maxSeries`). */
export const FOLDED = 'folded';

/** The label value for everything that has no label value of its own. */
export const OTHER = 'other';

/** Returns the members of a union in the given order. Omitting a member is a type error. */
const membersOf = <T extends string>(members: Readonly<Record<T, true>>) => Object.keys(members) as T[];

/** The outcomes of a check. */
export const OUTCOMES: readonly string[] = membersOf<CheckVerdict['outcome']>({
  passed: true,
  reported: true,
  refused: true,
  skipped: true,
  failed: true,
});

/** The outcomes of a scan of response bytes. */
export const SCAN_OUTCOMES: readonly string[] = membersOf<NonNullable<Trace['scan']>>({ valid: true, closer: true });

/** The results of a cache lookup. */
export const CACHE_RESULTS: readonly CacheTrace['status'][] = membersOf<CacheTrace['status']>({
  hit: true,
  miss: true,
  stale: true,
  coalesced: true,
  bypass: true,
});

/** The reasons why a fetched response is not stored. */
export const STORE_REFUSALS: readonly StoreRefusal[] = membersOf<StoreRefusal>({
  'no-response': true,
  status: true,
  'set-cookie': true,
  vary: true,
  'content-coding': true,
  'media-type': true,
  'error-inside': true,
  validity: true,
  'outer-form': true,
  'upstream-directive': true,
  unread: true,
  size: true,
  purged: true,
  superseded: true,
});

/** The ways in which the shadow contract's verdict can differ from the live contract's verdict. */
export const CANDIDATE_DIFFERENCES: readonly string[] = membersOf<NonNullable<Violation['candidate']>>({
  'newly-refused': true,
  'newly-accepted': true,
});

/** The reasons why authentication can fail. */
export const AUTHENTICATION_REASONS: readonly string[] = [...AUTHENTICATION_CODES, 'not_basic', OTHER];

/** The ways in which an exchange with the upstream can fail. */
export const FAILURE_KINDS: readonly string[] = [
  ...membersOf<UpstreamFailureKind>({
    refused: true,
    reset: true,
    truncated: true,
    deadline: true,
    shed: true,
    circuit_open: true,
    too_large: true,
    aborted: true,
  }),
  OTHER,
];

/** The status classes. `aborted` stands for status 0, which means that the client received no response. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'aborted', 'other'] as const;

/** Returns the class of a status. The class of an undefined status is `aborted`. */
export function statusClass(status: number | undefined): (typeof STATUS_CLASSES)[number] {
  if (status === undefined || status === 0) return 'aborted';
  if (status >= 200 && status < 300) return '2xx';
  if (status >= 300 && status < 400) return '3xx';
  if (status >= 400 && status < 500) return '4xx';
  if (status >= 500 && status < 600) return '5xx';
  return 'other';
}

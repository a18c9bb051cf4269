import type { MetricEntry } from './metric-list.ts';
import { labelSets, labelsOf, type LabelValues, NO_LABELS, type Sample, type StoredMetric } from './stored-metric.ts';

/** A counter whose series are all known in advance. Incrementing one is a single array write. */
export interface StoredCounter extends StoredMetric {
  /**
   * Increments the series with these label values, given in the order of the labels in the metric's entry. A value
   * that is not listed is counted under `other`, if that series exists, and otherwise ignored.
   */
  inc(first?: string, second?: string, third?: string, fourth?: string): void;
  /** The values that each label can have. */
  readonly values: LabelValues;
  /** The count of each combination of label values. The last label varies fastest. `relabel` replaces this array. */
  readonly counts: Readonly<Float64Array>;
  /** Replaces the label values. A series that already existed continues from its count. */
  relabel(values: LabelValues): void;
}

type Places = ReadonlyMap<string, number>;

/**
 * Creates a counter with one series for each combination of its label values. The metrics library would hash the labels
 * of every increment.
 */
export function createStoredCounter(entry: MetricEntry, given: LabelValues): StoredCounter {
  let values: LabelValues = [];
  let places: readonly Places[] = [];
  let counts = new Float64Array(0);
  /** Created for the first scrape. */
  let samples: Sample[] | undefined;

  const relabel = (next: LabelValues) => {
    const kept =
      counts.length === 0
        ? new Float64Array(next.reduce((size, axis) => size * axis.length, 1))
        : Float64Array.from(labelSets(next), (set) => counts[indexOf(places, set)] ?? 0);
    values = next;
    places = next.map((axis) => new Map(axis.map((value, index) => [value, index])));
    counts = kept;
    samples = undefined;
  };
  relabel(given);

  return {
    entry,
    get series() {
      return counts.length;
    },
    get values() {
      return values;
    },
    get counts() {
      return counts;
    },
    relabel,
    inc(first, second, third, fourth) {
      let index = places.length === 0 ? 0 : step(0, places[0], first);
      if (places.length > 1) index = step(index, places[1], second);
      if (places.length > 2) index = step(index, places[2], third);
      if (places.length > 3) index = step(index, places[3], fourth);
      if (index >= 0) counts[index] = (counts[index] ?? 0) + 1;
    },
    samples() {
      samples ??= labelSets(values).map((set) => ({ labels: NO_LABELS, sharedLabels: labelsOf(entry, set), value: 0 }));
      for (const [index, sample] of samples.entries()) sample.value = counts[index] ?? 0;
      return samples;
    },
  };
}

/** Extends a series' index by one label value. Returns -1 if the series does not exist. */
function step(index: number, places: Places | undefined, value: string | undefined): number {
  const place = places?.get(value ?? '') ?? places?.get('other');
  return index < 0 || places === undefined || place === undefined ? -1 : index * places.size + place;
}

/** Returns the index of the series with exactly these label values, or -1 if it does not exist. */
function indexOf(places: readonly Places[], set: readonly string[]): number {
  if (places.length !== set.length) return -1;
  return places.reduce((index, axis, label) => {
    const place = axis.get(set[label] ?? '');
    return index < 0 || place === undefined ? -1 : index * axis.size + place;
  }, 0);
}

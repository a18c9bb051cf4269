import type { MetricEntry } from './metric-list.ts';
import { headText, labelText } from './sample-text.ts';

/** A counter whose label sets are all known at start; an increment is one array write. */
export interface CounterFamily {
  /** Adds one to the series with these label values, in the order of the entry's labels; one that is not listed counts as `other` where there is such a series. */
  inc(first?: string, second?: string, third?: string): void;
  readonly series: number;
  /** What a scrape shows of it. */
  text(): string;
  /** The counts as they stand, in the order of the product of the label values; the last label changes quickest. */
  readonly counts: Readonly<Float64Array>;
}

/**
 * A counter over the product of its label values. The library hashes labels at every increment and writes them anew at every
 * scrape, so counts live in an array here, beside the text that stands before each of them.
 */
export function createCounterFamily(entry: MetricEntry, axes: readonly (readonly string[])[]): CounterFamily {
  const positions = axes.map((axis) => new Map(axis.map((value, index) => [value, index])));
  const sets = axes.reduce<string[][]>((all, axis) => all.flatMap((set) => axis.map((value) => [...set, value])), [[]]);
  const names = sets.map((values) => `${entry.name}${labelText(entry.labels, values)} `);
  const counts = new Float64Array(names.length);
  const head = headText(entry);
  return {
    series: names.length,
    counts,
    inc(first, second, third) {
      let index = step(0, positions[0], first);
      if (positions.length > 1) index = step(index, positions[1], second);
      if (positions.length > 2) index = step(index, positions[2], third);
      if (index >= 0) counts[index] = (counts[index] ?? 0) + 1;
    },
    text() {
      let text = head;
      for (let index = 0; index < names.length; index += 1) text += `${names[index] ?? ''}${counts[index] ?? 0}\n`;
      return text;
    },
  };
}

/** The index of a series goes on with the place of one more label value; below 0 where there is no such series. */
function step(index: number, places: ReadonlyMap<string, number> | undefined, value: string | undefined): number {
  const place = places?.get(value ?? '') ?? places?.get('other');
  return index < 0 || places === undefined || place === undefined ? -1 : index * places.size + place;
}

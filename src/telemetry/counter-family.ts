import { Counter, type Registry } from 'prom-client';
import type { MetricEntry } from './metric-list.ts';

/** A counter whose label sets are all known at start; an increment is one array write. */
export interface CounterFamily {
  /** Adds one to the series with these label values, in the order of the entry's labels; one that is not listed counts as `other` where there is such a series. */
  inc(first?: string, second?: string, third?: string): void;
  readonly series: number;
}

/**
 * Registers a counter over the product of its label values.
 * The library hashes labels at every increment, so counts live in an array here and are handed over at each scrape.
 */
export function createCounterFamily(
  registry: Registry,
  entry: MetricEntry,
  axes: readonly (readonly string[])[],
): CounterFamily {
  const positions = axes.map((axis) => new Map(axis.map((value, index) => [value, index])));
  const labelSets = labelSetsOf(entry.labels, axes);
  const counts = new Float64Array(labelSets.length);
  const counter = new Counter({
    name: entry.name,
    help: entry.help,
    labelNames: [...entry.labels],
    registers: [registry],
    collect() {
      counter.reset();
      labelSets.forEach((labels, index) => counter.inc(labels, counts[index] ?? 0));
    },
  });
  return {
    series: labelSets.length,
    inc(first, second, third) {
      let index = step(0, positions[0], first);
      if (positions.length > 1) index = step(index, positions[1], second);
      if (positions.length > 2) index = step(index, positions[2], third);
      if (index >= 0) counts[index] = (counts[index] ?? 0) + 1;
    },
  };
}

/** The index of a series goes on with the place of one more label value; below 0 where there is no such series. */
function step(index: number, places: ReadonlyMap<string, number> | undefined, value: string | undefined): number {
  const place = places?.get(value ?? '') ?? places?.get('other');
  return index < 0 || places === undefined || place === undefined ? -1 : index * places.size + place;
}

function labelSetsOf(names: readonly string[], axes: readonly (readonly string[])[]): Record<string, string>[] {
  return axes.reduce<Record<string, string>[]>(
    (sets, axis, index) => sets.flatMap((set) => axis.map((value) => ({ ...set, [names[index] ?? '']: value }))),
    [{}],
  );
}

import { expect, it } from 'vitest';
import { createStoredCounter, type StoredCounter } from '../../../src/engine/telemetry/stored-counter.ts';

const entry = { name: 'portico_example_total', type: 'counter', labels: ['operation', 'kind'], help: 'h' } as const;

const valuesOf = (counter: StoredCounter) =>
  counter.samples().map(({ sharedLabels, value }) => [...Object.values(sharedLabels), value].join(' '));

it('counts each combination of label values, and unlisted values as other if that exists', () => {
  const counter = createStoredCounter(entry, [
    ['a', 'b'],
    ['x', 'other'],
  ]);
  counter.inc('b', 'x');
  counter.inc('b', 'unlisted');
  counter.inc('unlisted', 'x');
  counter.inc('a');
  expect(valuesOf(counter)).toEqual(['a x 0', 'a other 1', 'b x 1', 'b other 1']);
  expect([...counter.counts]).toEqual([0, 1, 1, 1]);
  expect(counter.series).toBe(4);
});

it('keeps the counts of the series that still exist when label values are added, removed or moved', () => {
  const counter = createStoredCounter(entry, [['a', 'b', 'c'], ['x']]);
  for (const operation of ['a', 'b', 'b', 'c']) counter.inc(operation, 'x');
  counter.relabel([
    ['c', 'b', 'd'],
    ['x', 'y'],
  ]);
  counter.inc('d', 'y');
  expect(valuesOf(counter)).toEqual(['c x 1', 'c y 0', 'b x 2', 'b y 0', 'd x 0', 'd y 1']);
});

import { expect, it } from 'vitest';
import { createStoredHistogram } from '../../../src/engine/telemetry/stored-histogram.ts';

const entry = { name: 'portico_example_seconds', type: 'histogram', labels: ['operation'], help: 'h' } as const;
const SAMPLED = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const valuesOf = (histogram: ReturnType<typeof createStoredHistogram>) =>
  histogram.samples().map(({ metricName = '', labels, sharedLabels, value, exemplar }) => {
    const name = [metricName.replace(`${entry.name}_`, ''), ...Object.values(labels), sharedLabels['operation']];
    return `${name.join(' ')}: ${value}${exemplar === undefined ? '' : ` (${exemplar.value})`}`;
  });

it('keeps the observations of the rows that still exist when label values are added, removed or moved', () => {
  const histogram = createStoredHistogram(entry, ['a', 'b'], [1, 2], true);
  histogram.observe('b', 1, SAMPLED);
  histogram.observe('b', 3);
  histogram.observe('a', 0.5);
  histogram.observe('unlisted', 1);
  histogram.observe('b', Number.NaN);
  const b = ['bucket 1 b: 1 (1)', 'bucket 2 b: 1', 'bucket +Inf b: 2', 'sum b: 4', 'count b: 2'];
  expect(valuesOf(histogram).slice(5)).toEqual(b);
  histogram.relabel(['b', 'c']);
  histogram.observe('c', 2);
  const c = ['bucket 1 c: 0', 'bucket 2 c: 1', 'bucket +Inf c: 1', 'sum c: 2', 'count c: 1'];
  expect(valuesOf(histogram)).toEqual([...b, ...c]);
  expect([...histogram.counts]).toEqual([1, 0, 1, 0, 1, 0]);
  expect(histogram.series).toBe(10);
});

it('records exemplars only while they are wanted', () => {
  const histogram = createStoredHistogram(entry, ['a'], [1]);
  histogram.observe('a', 0.5, SAMPLED);
  expect(valuesOf(histogram)[0]).toBe('bucket 1 a: 1');
  histogram.relabel(['a'], true);
  histogram.observe('a', 0.25, SAMPLED);
  expect(valuesOf(histogram)[0]).toBe('bucket 1 a: 2 (0.25)');
  histogram.relabel(['a'], false);
  expect(valuesOf(histogram)[0]).toBe('bucket 1 a: 2');
});

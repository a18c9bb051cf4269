import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createFeatureMetrics } from '../../../src/engine/telemetry/feature-metrics.ts';

const ENTRY = {
  name: 'portico_example_total',
  type: 'counter',
  labels: ['kind', 'size'],
  help: 'An example.',
} as const;

it('metrics of features are read on each scrape, by the run of the feature that registered them last', async () => {
  const registry = new Registry();
  const metrics = createFeatureMetrics(registry);
  let count = 1;
  metrics.read(ENTRY, () => [[['a', 'small'], count]]);
  count = 2;
  expect(await registry.metrics()).toContain('portico_example_total{kind="a",size="small"} 2');
  expect(metrics.series()).toBe(1);
  metrics.read(ENTRY, () => [
    [['a', 'small'], 5],
    [['b', 'large'], 6],
  ]);
  const text = await registry.metrics();
  expect(text).toContain('portico_example_total{kind="a",size="small"} 5');
  expect(text).toContain('portico_example_total{kind="b",size="large"} 6');
  expect(metrics.series()).toBe(2);
});

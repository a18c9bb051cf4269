import { expect, it } from 'vitest';
import { createMetricRegistry } from '../../../src/engine/telemetry/metric-registry.ts';

const ENTRY = {
  name: 'portico_example_total',
  type: 'counter',
  labels: ['kind', 'size'],
  help: 'An example with a \\ and\na line break.',
} as const;

it('metrics of features are read on each scrape, by the run of the feature that registered them last', async () => {
  const registry = createMetricRegistry();
  let count = 1;
  registry.read(ENTRY, () => [[['a', 'small'], count]]);
  count = 2;
  expect(await registry.exposition('text')).toContain('portico_example_total{kind="a",size="small"} 2');
  expect(registry.series()).toBe(1);
  registry.read(ENTRY, () => [
    [['a', 'small'], 5],
    [['b', 'large'], 6],
  ]);
  const text = await registry.exposition('text');
  expect(text).toContain('portico_example_total{kind="a",size="small"} 5');
  expect(text).toContain('portico_example_total{kind="b",size="large"} 6');
  expect(registry.series()).toBe(2);
});

it('a counter of a feature that starts again keeps its counts and its series', async () => {
  const registry = createMetricRegistry();
  const first = registry.counter(ENTRY, [['a', 'b'], ['small']]);
  first('b', 'small');
  const second = registry.counter(ENTRY, [['a', 'c'], ['small']]);
  second('c', 'small');
  // A request that began before the reload is still counted.
  first('b', 'small');
  second('unlisted', 'small');
  const text = await registry.exposition('text');
  expect(text.match(/^portico_example_total\{.*$/gm)).toEqual([
    'portico_example_total{kind="a",size="small"} 0',
    'portico_example_total{kind="b",size="small"} 2',
    'portico_example_total{kind="c",size="small"} 1',
  ]);
});

it('a counter of a feature that is turned off can become 0', async () => {
  const registry = createMetricRegistry();
  const plain = { ...ENTRY, labels: [] };
  registry.counter(plain, [])();
  expect(await registry.exposition('text')).toContain('\nportico_example_total 1\n');
  registry.read(plain, () => [[[], 0]]);
  expect(await registry.exposition('text')).toContain('\nportico_example_total 0\n');
});

it('each format can be written again and again, with characters escaped that would end a value or a line', async () => {
  const registry = createMetricRegistry();
  registry.counter(ENTRY, [['x"y\\z\n'], ['small']]);
  const sample = String.raw`portico_example_total{kind="x\"y\\z\n",size="small"} 0`;
  const help = String.raw`An example with a \\ and\na line break.`;
  for (let time = 0; time < 2; time += 1) {
    const text = await registry.exposition('text');
    expect(text).toContain(`# HELP portico_example_total ${help}\n# TYPE portico_example_total counter\n${sample}\n`);
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
    const openMetrics = await registry.exposition('openMetrics');
    expect(openMetrics).toContain(`# HELP portico_example ${help}\n# TYPE portico_example counter\n${sample}\n`);
    expect(openMetrics).toMatch(/^# TYPE process_cpu_seconds counter\nprocess_cpu_seconds_total \d/m);
  }
});

import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { MetricRow } from '../../../src/engine/telemetry/stored-metric.ts';
import { createMirrorCounts } from '../../../src/features/mirror/mirror-counts.ts';
import { registerMetrics } from '../../../src/features/mirror/mirror-metrics.ts';
import { createTestClock } from '../../builders/test-clock.ts';

it('evaluates the counts once for all metrics of a scrape, because that takes long, and anew for the next one', async () => {
  const counts = createMirrorCounts('s', createTestClock());
  const readings: (() => readonly MetricRow[])[] = [];
  let evaluations = 0;
  registerMetrics(
    { read: (_entry, rows) => void readings.push(rows), counter: () => () => undefined },
    {
      counts: { ...counts, own: () => ((evaluations += 1), counts.own()) },
      ownerOf: () => undefined,
      mirrored: new Set(['listIdeas']),
      isPaused: () => false,
      waiting: () => 0,
    },
  );
  const scrape = () => readings.map((read) => read());
  counts.notMade({ operation: 'listIdeas', status: 200, role: '', parameters: [] }, 'stored page');
  expect(scrape()[0]).toContainEqual([['listIdeas', 'notMade'], 1]);
  expect(scrape()[1]).toEqual([[['stored page'], 1]]);
  expect(evaluations).toBe(1);
  await setImmediate();
  counts.notMade({ operation: 'listIdeas', status: 200, role: '', parameters: [] }, 'stored page');
  expect(scrape()[0]).toContainEqual([['listIdeas', 'notMade'], 2]);
});

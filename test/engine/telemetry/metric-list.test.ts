import { describe, expect, it } from 'vitest';
import { FEATURES } from '../../../src/features.ts';
import { METRICS } from '../../../src/engine/telemetry/metric-list.ts';
import { readText, tableBy } from '../../readme/tables.ts';

describe('the page of metrics', () => {
  const rows = tableBy(readText('docs/metrics.md'), 'metric');
  const metrics = [...Object.values(METRICS), ...FEATURES.flatMap(({ metrics: own = [] }) => own)];

  it('lists every metric with its type and labels, and no other', () => {
    const documented = rows.map(({ metric, type, labels }) => `${metric} ${type} ${labels}`);
    const known = metrics.map(({ name, type, labels }) => `${name} ${type} ${labels.join(', ') || '—'}`);
    expect(documented.toSorted()).toEqual(known.toSorted());
  });

  it('has the same words as the help at /metrics, apart from links', () => {
    const documented = rows.map(({ metric, meaning = '' }) => [metric, meaning.replaceAll(/\[(.+?)\]\(.+?\)/g, '$1')]);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(metrics.map(({ name, help }) => [name, help])));
  });
});

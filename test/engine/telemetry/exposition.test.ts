import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../../src/engine/telemetry/metric-list.ts';
import { FEATURES } from '../../../src/features.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { readExposition, type ScrapedFamily } from '../../builders/read-exposition.ts';
import { servedMetrics } from './varied-traffic.ts';

/** Returns the metrics that are the same in each run: not those of the process and of the scrapes themselves. */
function steady(text: string): readonly ScrapedFamily[] {
  const own = [...readExposition(text).values()].filter(({ name }) => /^portico_(?!scrape_|build_)/.test(name));
  return own.toSorted((a, b) => a.name.localeCompare(b.name));
}

/** Returns a line for each metric and for each of its series that is not 0. */
function inLines(text: string): string {
  const lines = steady(text).flatMap(({ name, type, help, samples }) => {
    const counted = [...samples]
      .filter(([, { value }]) => value !== 0)
      .map(([series, { value }]) => `  ${series} ${value}`);
    return [`${name} ${type}, ${samples.size} series: ${help}`].concat(counted);
  });
  return `${lines.join('\n')}\n`;
}

describe('a scrape after requests of every kind', () => {
  it('contains the same metrics and values as ever', async () => {
    const metrics = await servedMetrics();
    await expect(inLines(await metrics.exposition())).toMatchFileSnapshot('exposition.txt');
  });

  it('contains the same in both formats, and exemplars only as OpenMetrics', async () => {
    const metrics = await servedMetrics();
    const openMetrics = await metrics.exposition('openMetrics');
    const text = await metrics.exposition();
    const named = (families: readonly ScrapedFamily[]) => {
      const entries = families.map(({ name, type, help, samples }) => {
        const values = [...samples].map(([series, { value }]) => [series, value] as const);
        return [type === 'counter' ? name.replace(/_total$/, '') : name, type, help, values] as const;
      });
      return entries.toSorted(([a], [b]) => a.localeCompare(b));
    };
    expect(named(steady(openMetrics))).toEqual(named(steady(text)));
    expect(openMetrics.endsWith('\n# EOF\n')).toBe(true);
    expect(openMetrics.match(/^# TYPE \w+_total /m)).toBeNull();
    const exemplars = [...readExposition(openMetrics).values()].flatMap(({ samples }) =>
      [...samples].flatMap(([series, { exemplar }]) => (exemplar === undefined ? [] : [`${series} ${exemplar}`])),
    );
    expect(exemplars).toContain(
      'portico_upstream_exchange_duration_seconds_bucket{le="+Inf",operation="listQuestions"} ' +
        '{trace_id="0af7651916cd43dd8448eb211c80319c",span_id="00f067aa0ba902b7"} 40 1700000040',
    );
    expect(text).not.toContain(' # {');
  });

  it('has histograms that add up', async () => {
    const text = await (await servedMetrics()).exposition();
    for (const { name, type, samples } of steady(text)) {
      if (type !== 'histogram') continue;
      const rows = Map.groupBy([...samples], ([series]) => /(?:operation|outcome)="[^"]*"/.exec(series)?.[0]);
      for (const row of rows.values()) {
        const buckets = row.filter(([series]) => series.startsWith(`${name}_bucket`)).map(([, { value }]) => value);
        const count = row.find(([series]) => series.startsWith(`${name}_count`))?.[1].value;
        expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
        expect(buckets.at(-1)).toBe(count);
      }
    }
  });

  it('needs no escaping in help texts, which the metrics library would leave out in OpenMetrics', () => {
    const all = [...Object.values(METRICS), ...FEATURES.flatMap(({ metrics = [] }) => metrics)];
    expect(all.filter(({ help }) => /["\\\n]/.test(help)).map(({ name }) => name)).toEqual([]);
  });
});

needsProgram('promtool', 'a scrape', (promtool) => {
  it.each([
    ['a few operations', 16],
    ['so many operations that some are folded', 300],
  ])('is valid with %s', async (_, operations) => {
    const input = await (await servedMetrics(operations, 10_000)).exposition();
    expect(execFileSync(promtool, ['check', 'metrics'], { input, encoding: 'utf8' })).toBe('');
  });
});

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METRICS } from '../../src/telemetry/metric-list.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { dashboardQueries, readDashboard } from './dashboard-file.ts';
import { type KnownSeries, seriesOfGateway, strangeNames, withRecorded } from './known-series.ts';
import { promqlUse } from './promql-use.ts';
import { recordingRules } from './rule-files.ts';

const dashboard = readDashboard();
const panels = dashboard.panels.filter(({ type }) => type !== 'row');

describe('the dashboard for Grafana', () => {
  let known: KnownSeries;
  beforeAll(async () => {
    known = withRecorded(await seriesOfGateway(), recordingRules());
  });

  it('queries only metrics, labels and values that a gateway or a recording rule has', () => {
    expect(dashboardQueries().length).toBeGreaterThan(40);
    expect(dashboardQueries().flatMap((query) => strangeNames(query, known))).toEqual([]);
  });

  it('fills its variables from existing labels', () => {
    const queries = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);
    expect(queries).toHaveLength(3);
    for (const query of queries) {
      const [, series = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(query) ?? [];
      expect(strangeNames(`sum by (${label}) (${series})`, known)).toEqual([]);
    }
  });

  it('shows every metric of the gateway, directly or through a recording rule', () => {
    const rules = new Map(recordingRules().map(({ record, expr }) => [record, expr]));
    const shown = new Set<string>();
    const visit = (query: string) => {
      for (const { name } of promqlUse(query).metrics) {
        if (shown.has(name)) continue;
        shown.add(name);
        visit(rules.get(name) ?? '');
      }
    };
    dashboardQueries().forEach(visit);
    const missing = Object.values(METRICS).filter(
      ({ name, type }) => !shown.has(name) && !(type === 'histogram' && shown.has(`${name}_bucket`)),
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it('uses only labels in its legends that the query preserves', () => {
    const wrong = panels.flatMap(({ title, targets = [] }) =>
      targets.flatMap(({ expr, legendFormat }) => {
        const { metrics, labels } = promqlUse(expr);
        const kept = new Set(labels.concat(metrics.flatMap(({ name }) => Array.from(known.get(name)?.keys() ?? []))));
        const grouped = /\bby \(/.test(expr) ? new Set(labels) : kept;
        return [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)]
          .filter(([, label = '']) => !grouped.has(label))
          .map(() => title);
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('has panels with a unique id, a title, a description, a unit and the selected data source', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { title, description, datasource, fieldConfig, targets = [] } of panels) {
      expect(title).not.toBe('');
      expect(description, title).toMatch(/\.$/);
      expect(fieldConfig?.defaults.unit, title).toMatch(/^\w+$/);
      expect(targets.length, title).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
      for (const source of [datasource, ...targets.map((target) => target.datasource)])
        expect(source?.uid, title).toBe(['$', '{datasource}'].join(''));
    }
  });

  it('marks states with colors and words, and values with thresholds', () => {
    const defaultsOf = (title: string) => panels.find((panel) => panel.title === title)?.fieldConfig?.defaults;
    for (const title of ['Ready', 'Upstream paused', 'Checks enforced', 'Enforcement per operation'])
      expect(defaultsOf(title)?.mappings, title).toHaveLength(1);
    const marked = ['Ready', 'Error budget left', 'Error budget burn', 'Failures', 'Event loop lag, 99th percentile'];
    for (const title of marked) expect(defaultsOf(title)?.thresholds?.steps.length, title).toBeGreaterThan(1);
  });

  it('shows restarts and releases as annotations, and links to the console', () => {
    expect(dashboard.annotations.list.map(({ name }) => name)).toEqual(['Restarts', 'Releases']);
    expect(dashboard.annotations.list.flatMap(({ expr }) => strangeNames(expr, known))).toEqual([]);
    expect(dashboard.links.map(({ url }) => url)).toContain('http://127.0.0.1:8081/console/');
  });

  it('overlaps no panels', () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...dashboard.panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  });
});

needsProgram('promtool', 'promtool and the dashboard for Grafana', (promtool) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-dashboard-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('reads every query', async () => {
    const rules = dashboardQueries().map((query, index) => ({
      record: `query:${index}`,
      expr: query.replaceAll('$__rate_interval', '5m'),
    }));
    const file = join(folder, 'queries.yml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'queries', rules }] }));
    const { stdout } = await promisify(execFile)(promtool, ['check', 'rules', file]);
    expect(stdout).toContain(`SUCCESS: ${rules.length} rules found`);
  });
});

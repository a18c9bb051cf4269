import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METRICS } from '../../src/engine/telemetry/metric-list.ts';
import { METRICS as OF_CUTOVER } from '../../src/features/cutover/cutover-metrics.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { startTestGateway } from '../builders/test-gateway.ts';
import { dashboardQueries, readDashboard } from './dashboard-file.ts';
import { type KnownSeries, seriesOfGateway, strangeNames, withRecorded } from './known-series.ts';
import { promqlUse } from './promql-use.ts';
import { recordingRules } from './rule-files.ts';

const dashboard = readDashboard();
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const defaultsOf = (title: string) => panels.find((panel) => panel.title === title)?.fieldConfig?.defaults;

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

  it('shows every metric of the gateway and of the cut-over, directly or through a recording rule', () => {
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
    const missing = [...Object.values(METRICS), ...OF_CUTOVER].filter(
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

  it('filters every query by the selected instances, or says that it covers all of them', () => {
    for (const { title, description, targets = [] } of panels)
      for (const { expr } of targets) {
        const uses = promqlUse(expr).metrics.filter(({ name }) => name !== 'portico:objective');
        const filtered = uses.every(({ matchers }) => matchers.some(({ label }) => label === 'instance'));
        if (!filtered) expect(description, title).toMatch(/all instances, regardless of the selection\./i);
      }
  });

  it('shows the requests, failures, durations and hits of each instance', () => {
    const byInstance = panels.filter(({ targets = [] }) => targets.some(({ expr }) => expr.includes('by (instance')));
    const metrics = new Set(
      byInstance.flatMap(({ targets = [] }) =>
        targets.flatMap(({ expr }) => promqlUse(expr).metrics.map(({ name }) => name)),
      ),
    );
    for (const name of [
      'portico_http_requests_total',
      'portico_error_budget_spent_total',
      'portico_http_request_duration_seconds_bucket',
      'portico_cache_requests_total',
      'portico_upstream_in_flight',
    ])
      expect(metrics).toContain(name);
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

  it.each([
    ['Ready', '0 not ready red, 1 ready green'],
    ['Checks enforced', '0 nothing orange'],
    ['Upstream paused', '0 no green, 1 paused red'],
    ['Enforcement per operation', '0 off gray, 1 report yellow, 2 enforce green'],
  ])('shows the states of %s in words and colors: %s', (panel, states) => {
    const mappings = defaultsOf(panel)?.mappings ?? [];
    const shown = mappings.flatMap(({ options }) => Object.entries(options));
    expect(shown.map(([value, { text, color }]) => `${value} ${text} ${color}`).join(', ')).toBe(states);
  });

  it.each([
    ['Ready', 'red, green from 1'],
    ['Checks enforced', 'orange, yellow from 1, green from 6'],
    ['Error budget left', 'red, orange from 0, green from 0.25'],
    ['Upstream paused', 'green, red from 1'],
    ['Duration, 99th percentile', 'green, orange from 1, red from 5'],
    ['Error budget burn', 'green, orange from 6, red from 14.4'],
    ['Hit ratio', 'orange, green from 0.5'],
    ['Failures', 'green, orange from 0.05, red from 0.5'],
    ['Event loop lag, 99th percentile', 'green, orange from 0.1, red from 0.5'],
  ])('marks the values of %s with thresholds: %s', (panel, thresholds) => {
    const steps = defaultsOf(panel)?.thresholds?.steps ?? [];
    const shown = steps.map(({ color, value }) => (value === null ? color : `${color} from ${value}`));
    expect(shown.join(', ')).toBe(thresholds);
  });

  it('counts only violations that are not accepted', () => {
    const queries = dashboardQueries().filter((query) => query.includes('portico_contract_violations_total'));
    const uses = queries.flatMap((query) => promqlUse(query).metrics);
    const counters = uses.filter(({ name }) => name === 'portico_contract_violations_total');
    expect(counters.length).toBeGreaterThan(1);
    const unaccepted = { label: 'accepted', value: 'false', isPattern: false };
    for (const { matchers } of counters) expect(matchers).toContainEqual(unaccepted);
  });

  it('shows restarts and releases as annotations, and links to the console', () => {
    expect(dashboard.annotations.list.map(({ name }) => name)).toEqual(['Restarts', 'Releases']);
    expect(dashboard.annotations.list.flatMap(({ expr }) => strangeNames(expr, known))).toEqual([]);
    const releases = dashboard.annotations.list.find(({ name }) => name === 'Releases');
    expect(promqlUse(releases?.expr ?? '').labels).toContain('release');
    expect(releases?.textFormat).toContain('{{release}}');
    expect(dashboard.links.map(({ url }) => url)).toContain('http://127.0.0.1:8081/console/');
  });

  it('gets the release label of its annotations from the configuration', async () => {
    const gateway = await startTestGateway({ upstream: 'http://127.0.0.1:9', config: { release: '4.2-rc1' } });
    const { text } = await gateway.admin('/metrics');
    expect(text).toMatch(/^portico_build_info\{.*release="4\.2-rc1"\} 1$/m);
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

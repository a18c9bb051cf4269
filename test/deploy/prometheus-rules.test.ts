import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/lib/package-root.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { type KnownSeries, seriesOfGateway, strangeNames, withRecorded } from './known-series.ts';
import { dashboardQueries } from './dashboard-file.ts';
import { promqlUse } from './promql-use.ts';
import {
  alertCases,
  PROMTOOL,
  readRuleTests,
  recordingRules,
  RULES_FOLDER,
  ruleTestFiles,
  rulesOf,
  splitRuleTests,
} from './rule-files.ts';

const run = promisify(execFile);
const files = ['alerts.yml', 'recording.yml'].map((name) => join(RULES_FOLDER, name));
const alerts = rulesOf('alerts.yml').filter(({ alert }) => alert !== undefined);

describe('the rules for Prometheus', () => {
  let known: KnownSeries;
  beforeAll(async () => {
    known = withRecorded(await seriesOfGateway(), recordingRules());
  });

  it('name metrics, labels and values that a gateway has', () => {
    const rules = [...rulesOf('alerts.yml'), ...rulesOf('recording.yml')];
    expect(rules.length).toBeGreaterThan(30);
    expect(
      rules.flatMap(({ alert, record, expr }) => strangeNames(expr, known).map((one) => [alert ?? record, one])),
    ).toEqual([]);
  });

  it.each([
    ['sum(rate(portico_http_request_total[5m]))', 'no metric portico_http_request_total'],
    ['portico_errors_total{kode="internal_error"}', 'no label kode on portico_errors_total'],
    ['portico_errors_total{code=~"internal_error|infernal"}', 'no code infernal on portico_errors_total'],
    ['sum by (operation) (portico_errors_total)', 'no label operation'],
  ])('would be rejected with %s', (query, fault) => {
    expect(strangeNames(query, known)).toEqual([fault]);
  });

  it('record nothing that no alert or panel reads', () => {
    const read = new Set(
      [...alerts.map(({ expr }) => expr), ...dashboardQueries()].flatMap((expr) =>
        promqlUse(expr).metrics.map(({ name }) => name),
      ),
    );
    expect(recordingRules().filter(({ record }) => !read.has(record))).toEqual([]);
  });

  it('state for every alert its audience and what happened', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(['page', 'ticket', 'info'], alert).toContain(labels?.['severity']);
      expect(annotations?.['summary'], alert).toMatch(/^.{15,}\.$/);
    }
  });

  it('state for every alert what to do, and link to its section on the operations page', () => {
    const page = readFileSync(join(packageRoot, 'docs', 'operations.md'), 'utf8');
    for (const { alert = '', annotations } of alerts) {
      expect(annotations?.['description'], alert).toMatch(/^.{30,}\.$/);
      const anchor = alert.toLowerCase();
      expect(annotations?.['runbook_url'], alert).toBe(`docs/operations.md#${anchor}`);
      expect(page, alert).toContain(`<a id="${anchor}"></a>\`${alert}\``);
    }
    expect(alerts.map(({ alert }) => alert).filter((alert) => !page.includes(`\`${alert}\``))).toEqual([]);
    const named = [...page.matchAll(/`(Portico[A-Z]\w+)`/g)].map(([, name]) => name);
    expect(named.filter((name) => !alerts.some(({ alert }) => alert === name))).toEqual([]);
  });

  // If an alert named an instance, a single cause, such as a failing upstream, would trigger one alert per instance.
  it('name no instance in an alert, and aggregate over the instances of a job', () => {
    for (const { alert, expr, annotations } of alerts) {
      expect(JSON.stringify(annotations), alert).not.toContain('labels.instance');
      const first = /^(?:(?:count|max|min|sum) by \(job[,)]|absent\(|(?:job|operation):)/;
      expect(expr.trim(), alert).toMatch(first);
    }
  });

  // In an average of ratios or of percentiles, an idle instance has the same weight as a busy one.
  it('average nothing over instances', () => {
    const all = [...rulesOf('alerts.yml'), ...rulesOf('recording.yml')].map(({ expr }) => expr);
    expect([...all, ...dashboardQueries()].filter((expr) => /\bavg\b|quantile by|histogram_avg/.test(expr))).toEqual(
      [],
    );
  });

  it('have tests for each alert: one that fires, silence before that, and silence on a healthy gateway', () => {
    const cases = alertCases();
    const names = alerts.map(({ alert }) => alert ?? '');
    const tested = (wanted: (one: (typeof cases)[number]) => boolean) =>
      new Set(cases.filter(wanted).map((one) => one.alertname));
    const fires = ({ exp_alerts: expected = [] }: (typeof cases)[number]) => expected.length > 0;
    const healthy = 'a busy and healthy gateway is silent';
    expect(tested(fires)).toEqual(new Set(names));
    expect(tested((one) => one.test === healthy && !fires(one))).toEqual(new Set(names));
    const alone = names.filter(
      (name) => !cases.some((one) => one.alertname === name && one.test !== healthy && !fires(one)),
    );
    expect(alone).toEqual([]);
  });
});

needsProgram('promtool', 'promtool and the rules for Prometheus', (promtool) => {
  it('accepts them', async () => {
    const { stdout } = await run(promtool, ['check', 'rules', ...files]);
    expect(stdout.match(/SUCCESS: \d+ rules found/g)).toHaveLength(files.length);
  });

  it.each(ruleTestFiles().map((path) => [basename(path), path]))(
    'matches the expectations of %s',
    async (_, path) => {
      const tests = splitRuleTests(path);
      const { stdout } = await run(promtool, ['test', 'rules', ...tests], PROMTOOL);
      expect(stdout.match(/SUCCESS/g)).toHaveLength(tests.length);
    },
    PROMTOOL.timeout + 10_000,
  );

  describe('with broken rules', () => {
    it(
      'detects alerts that do not fire and alerts that are not silent',
      async () => {
        const folder = tempFolder();
        mkdirSync(join(folder, 'tests'));
        copyFileSync(join(RULES_FOLDER, 'recording.yml'), join(folder, 'recording.yml'));
        const text = readFileSync(join(RULES_FOLDER, 'alerts.yml'), 'utf8');
        const path = join(folder, 'tests', 'alerts.test.yml');
        // Only the tests for the two alerts that are broken below are needed.
        const all = readRuleTests(join(RULES_FOLDER, 'tests', 'alerts.test.yml'));
        const tests = all.tests.filter(
          ({ alert_rule_test: cases = [] }) =>
            cases.length > 0 &&
            cases.every(({ alertname }) => ['PorticoUpstreamPaused', 'PorticoNotReady'].includes(alertname)),
        );
        writeFileSync(path, JSON.stringify({ ...all, tests }));
        const broken = text
          .replace('(portico_upstream_circuit_open) == 1', '(portico_upstream_circuit_open) == 2')
          .replace('expr: max by (job) (portico_ready) == 0', 'expr: max by (job) (portico_ready) >= 0');
        expect(broken).not.toBe(text);
        writeFileSync(join(folder, 'alerts.yml'), broken);
        const failure = await run(promtool, ['test', 'rules', ...splitRuleTests(path)], PROMTOOL).then(
          () => 'no failure',
          (error: unknown) =>
            (error as { stderr: string; stdout: string }).stdout + (error as { stderr: string }).stderr,
        );
        expect(failure).toContain('alertname: PorticoUpstreamPaused');
        expect(failure).toContain('alertname: PorticoNotReady');
      },
      PROMTOOL.timeout + 10_000,
    );
  });
});

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { promqlUse } from './promql-use.ts';
import { PROMTOOL, RULES_FOLDER, rulesOf } from './rule-files.ts';

const LINE = /^(portico_\w+)(?:\{(.*)\})? (\S+)$/gm;
const OPERATION = /\boperation="[^"]*"/;
const MINUTES = 130;
const FIRED = `count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[${MINUTES}m]))`;

/**
 * Evaluates the committed rules against two scrapes of a single gateway. Returns the names of the alerts that fired.
 * The first scrape is repeated for ten minutes. After that, the difference between the two scrapes is added every
 * minute for two hours.
 */
export async function alertsBetween(promtool: string, before: string, after: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-replay-'));
  try {
    const file = join(folder, 'replay.yml');
    const document = {
      rule_files: [join(RULES_FOLDER, 'recording.yml'), join(RULES_FOLDER, 'alerts.yml')],
      // Each evaluation takes time, so the interval is long. The test checks which alerts fire within two hours, not in
      // which minute.
      evaluation_interval: '4m',
      tests: [
        {
          interval: '1m',
          input_series: [
            { series: 'up{instance="a",job="portico"}', values: `1x${MINUTES + 10}` },
            ...replay(before, after),
          ],
          // This expectation can never be met, so promtool prints the actual result.
          promql_expr_test: [
            { expr: FIRED, eval_time: `${MINUTES + 10}m`, exp_samples: [{ labels: 'nothing', value: -1 }] },
          ],
        },
      ],
    };
    writeFileSync(file, JSON.stringify(document));
    const said = await promisify(execFile)(promtool, ['test', 'rules', file], PROMTOOL).then(
      ({ stdout, stderr }) => stdout + stderr,
      (error: unknown) => `${(error as { stdout: string }).stdout}${(error as { stderr: string }).stderr}`,
    );
    const [, got] = said.split('got:');
    if (got === undefined) throw new Error(said);
    return [...got.matchAll(/alertname="(\w+)"/g)].map(([, name = '']) => name).toSorted();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function replay(before: string, after: string): { series: string; values: string }[] {
  const counters = new Set([...after.matchAll(/^# TYPE (\w+) (?:counter|histogram)$/gm)].map(([, name = '']) => name));
  const first = new Map(
    [...before.matchAll(LINE)].map(([, name, labels, value]) => [`${name}{${labels ?? ''}}`, Number(value)]),
  );
  const read = metricsOfRules();
  const lines = [...after.matchAll(LINE)].filter(([, name = '']) => read.has(name));
  const alike = operationsAlike(
    lines.map(([, name = '', labels = '', end]) => [name, labels, first.get(`${name}{${labels}}`), end].join(' ')),
  );
  const different = lines.filter(([, , labels = '']) => !alike.has(OPERATION.exec(labels)?.[0] ?? ''));
  return different.map(([, name = '', labels = '', text]) => {
    const start = first.get(`${name}{${labels}}`) ?? Number.NaN;
    const end = Number(text);
    const family = name.replace(/_(?:bucket|sum|count)$/, '');
    const counts = counters.has(name) || counters.has(family);
    const grown = counts ? `${end}+${end - start}x${MINUTES - 1}` : `${end}x${MINUTES - 1}`;
    return {
      series: `${name}{instance="a",job="portico"${labels === '' ? '' : `,${labels}`}}`,
      values: `${start}x10 ${grown}`,
    };
  });
}

/**
 * Returns the labels of the operations whose series have the same values as the series of an earlier operation. No rule
 * names an operation, so the rules treat them alike. Most operations receive no requests, and loading the series of all
 * of them would take up much of the test's time.
 */
function operationsAlike(series: readonly string[]): ReadonlySet<string> {
  const byOperation = Map.groupBy(series, (one) => OPERATION.exec(one)?.[0] ?? '');
  const seen = new Set<string>();
  const alike = new Set<string>();
  for (const [operation, own] of byOperation) {
    if (operation === '') continue;
    const text = own.map((one) => one.replace(operation, '')).join('\n');
    if (seen.has(text)) alike.add(operation);
    seen.add(text);
  }
  return alike;
}

/**
 * Returns the metrics that the rules read. A scrape contains many more metrics, and loading them all would take up most
 * of the test's time.
 */
function metricsOfRules(): ReadonlySet<string> {
  const rules = [...rulesOf('recording.yml'), ...rulesOf('alerts.yml')];
  const names = new Set(rules.flatMap(({ expr }) => promqlUse(expr).metrics.map(({ name }) => name)));
  // The duration of a scrape depends on the load on the machine that runs the test.
  names.delete('portico_scrape_duration_seconds');
  return names;
}

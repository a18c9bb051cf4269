import { expect, test } from 'vitest';
import { comparisonTable } from '../against.ts';
import { readArguments } from '../arguments.ts';
import { selectCases } from '../cases.ts';
import { estimateSeconds, FULL, QUICK, roundsPerVisit, turnsOf } from '../effort.ts';
import { lateness } from '../measure-all.ts';
import { toChart } from '../report/chart.ts';
import { toMarkdown } from '../report/markdown.ts';
import { resultsTable } from '../report/table.ts';
import { resultsOf, visitsOf } from './made-up-results.ts';

const VISITS = [...visitsOf('hit', [[30, 34]]), ...visitsOf('bare', [[20, 20]])];

test('a row has its value, spread, goal, verdict and the value with a busy neighbor', () => {
  const line = /^\| hit ÷ bare.*$/m.exec(resultsTable(resultsOf(VISITS)))?.[0] ?? '';
  expect(line).toContain('| 1.60 × | 1.50 to 1.70 | ≤ 1.50 | **missed** | 1.60 (1.50 to 1.70) |');
});

test('failures and a busy machine are reported before any number', () => {
  const { machine } = resultsOf([]);
  const failures = [{ part: 'hit', message: 'no\nmore' }];
  const text = toMarkdown(resultsOf(VISITS, { failures, machine: { ...machine, busyBefore: 0.4 } }));
  expect(text.slice(0, text.indexOf('| what'))).toMatch(/\*\*hit failed: no\*\*\n\n\*\*.* 40% busy before/);
});

test('the chart has a bar for quiet rounds and one for busy rounds', () => {
  expect(toChart(resultsOf(VISITS)).match(/<rect /g)?.length).toBe(4);
});

test('a comparison has the ratio of the medians and the spread of the pairs', () => {
  const visits = [...visitsOf('hit-before', [[40], [40]]), ...visitsOf('hit-after', [[30], [34]])];
  const table = comparisonTable([{ id: 'hit' }], { visits, failures: [] });
  expect(table).toContain('| hit | 40.0 | 32.0 | 0.800 | 0.750 to 0.850 |');
});

test('a complete run fits into its limit, with at least five rounds for every case', () => {
  const cases = selectCases([]);
  const installation = 60;
  const starts = 35;
  expect(estimateSeconds(cases, FULL) + installation + starts).toBeLessThan(FULL.maxMinutes * 60);
  expect(estimateSeconds(cases, QUICK) + starts).toBeLessThan(QUICK.maxMinutes * 60);
  for (const effort of [FULL, QUICK])
    for (const one of cases) expect(turnsOf(one, effort) * roundsPerVisit(one, effort)).toBeGreaterThanOrEqual(5);
});

test('a run that took longer than its effort allows has failed', () => {
  expect(lateness(12 * 60, FULL)).toEqual([]);
  expect(lateness(13 * 60, FULL)[0]?.message).toMatch(/took 13\.0 minutes and may take 12/);
});

test('wrong usage is refused with the names that exist', () => {
  expect(readArguments(['--only', 'hot'])).toMatch(/no part called hot; the names: hit, /);
  expect(readArguments(['--micro', '--profile', 'hit'])).toMatch(/only one of/);
  expect(readArguments(['--fast'])).toMatch(/fast/);
});

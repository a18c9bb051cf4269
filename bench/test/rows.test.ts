import { expect, test } from 'vitest';
import { allCases, PARTS } from '../cases.ts';
import { combine, type Results } from '../results.ts';
import { isMet, type Row, ROWS } from '../rows.ts';
import type { Round } from '../load.ts';
import { resultsOf, visitsOf } from './made-up-results.ts';

const ratio = ([above, below]: readonly Round[]) => (above?.cpuUs ?? 0) / (below?.cpuUs ?? 0);

function rowOf(pattern: RegExp): Row {
  const found = ROWS.filter(({ what }) => pattern.test(what));
  expect(found.length).toBe(1);
  return found[0] as Row;
}

test('a ratio is that of the medians, and its spread that of rounds of the same turn', () => {
  const visits = [...visitsOf('a', [[30, 30], [60]]), ...visitsOf('b', [[10, 15], [20]])];
  expect(combine({ visits }, 'quiet', ['a', 'b'], ratio)).toEqual({ median: 2, min: 2, max: 3 });
});

test('rounds without a counterpart in the same turn belong to no pair', () => {
  const [, second] = visitsOf('b', [[1], [10]]);
  const visits = [...visitsOf('a', [[90], [20]]), ...(second === undefined ? [] : [second])];
  expect(combine({ visits }, 'quiet', ['a', 'b'], ratio)).toEqual({ median: 5.5, min: 2, max: 5.5 });
});

test('a row whose cases were not measured has no value', () => {
  const states = ROWS.map((row) => isMet(row, resultsOf([])));
  expect(new Set(states)).toEqual(new Set([undefined]));
});

test('a complete run measures every row', () => {
  const visits = allCases().flatMap(({ id }, at) => visitsOf(id, [[10 + at]], 1000 * (at + 1)));
  const results = resultsOf(visits, { starts: [{ readyMs: 400, idleBytes: 1e8 }] });
  expect(ROWS.filter((row) => isMet(row, results) === undefined).map(({ what }) => what)).toEqual([]);
});

test('every case belongs to a part, and every part consists of cases', () => {
  const ids = allCases().map(({ id }) => id);
  expect(new Set(Object.values(PARTS).flat())).toEqual(new Set(ids));
  expect(new Set(ids).size).toBe(ids.length);
});

test('a limit may be reached from either side', () => {
  const at = (pattern: RegExp, visits: Results['visits']) => isMet(rowOf(pattern), resultsOf(visits));
  const hits = (cpuUs: number) => [...visitsOf('hit', [[cpuUs]]), ...visitsOf('nginx', [[20]])];
  expect([at(/nginx/, hits(30)), at(/nginx/, hits(31))]).toEqual([true, false]);
  const misses = (cpuUs: number) => [...visitsOf('miss', [[cpuUs]]), ...visitsOf('proxy', [[100]])];
  expect([at(/proxy-middleware ÷ miss/, misses(80)), at(/proxy-middleware ÷ miss/, misses(81))]).toEqual([true, false]);
});

test('the busy rows use the rounds with a busy neighbor', () => {
  const visits = [...visitsOf('hit', [[40]]), ...visitsOf('bare', [[20]])];
  const [bare] = visitsOf('bare', [[20]]);
  const slower = [...visitsOf('hit', [[40]]), ...(bare === undefined ? [] : [{ ...bare, busy: bare.quiet }])];
  const busy = rowOf(/keeps the core busy/);
  expect([visits, slower].map((one) => busy.value(resultsOf(one))?.median)).toEqual([2, 4]);
});

test('the cost of a large page is compared with the straight line through the smaller ones', () => {
  const at = (large: number) =>
    rowOf(/straight line/).value(
      resultsOf([
        ...visitsOf('miss-2k', [[50]], 2000),
        ...visitsOf('miss', [[77]], 29_000),
        ...visitsOf('miss-200k', [[large]], 200_000),
      ]),
    )?.median;
  expect(at(248)).toBeCloseTo(0);
  expect(at(310)).toBeCloseTo(25);
  expect(at(124)).toBeCloseTo(-50);
});

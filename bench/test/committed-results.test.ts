import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toChart } from '../report/chart.ts';
import { toMarkdown } from '../report/markdown.ts';
import { resultsOf } from './made-up-results.ts';

/** Returns the commit that a results file names. */
function commitIn(text: string): string | undefined {
  return /\b[Cc]ommit:? ([0-9a-f]{7,40}(?: with local changes)?)/.exec(text)?.[1];
}

test('every file of a run names its commit', () => {
  const results = resultsOf([]);
  expect([toMarkdown(results), toChart(results)].map(commitIn)).toEqual(['abc1234', 'abc1234']);
});

test('the committed results come from one complete run, and the documentation names its commit', () => {
  const read = (...path: readonly string[]) => readFileSync(join(import.meta.dirname, '..', ...path), 'utf8');
  const [commit = 'none', other] = ['RESULTS.md', 'results.svg'].map((name) => commitIn(read(name)));
  expect(commit, 'the results were measured with local changes').toMatch(/^[0-9a-f]+$/);
  expect(other).toBe(commit);
  expect(read('..', 'docs', 'performance.md')).toContain(commit);
});

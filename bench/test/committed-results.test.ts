import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { spreadOf } from '../spread.ts';
import { microFiles } from '../report/micro-markdown.ts';
import { detailFiles, summaryFiles } from '../report/result-files.ts';
import { flameGraph } from '../profile/flame-graph.ts';
import { resultsOf, row } from './results-of.ts';

const BENCH = join(import.meta.dirname, '..');

/** Returns the commit that a results file names. */
function commitIn(text: string): string | undefined {
  return /\b[Cc]ommit(?:": "|: | )([0-9a-f]{7,40}(?: with local changes)?)/.exec(text)?.[1];
}

test('every file of a run names its commit', () => {
  const results = resultsOf({ hit: [row('portico-hit', 30, 25_000)] });
  const { machine, startedAt } = results;
  const lines = [{ name: 'match', nsPerCall: spreadOf([1]), bytesPerCall: 1 }];
  const frame = { name: 'all', place: '', group: 'Node', self: 1, total: 1, children: new Map() };
  const files = [
    ...summaryFiles(results),
    ...detailFiles(results),
    ...microFiles(lines, machine, startedAt),
    { name: 'profile-hit.svg', text: flameGraph(frame, `hit; commit ${machine.commit}`) },
  ];
  for (const { name, text } of files) assert.equal(commitIn(text), machine.commit, name);
});

// The files that a complete run writes.
const FILES = ['RESULTS.md', 'results.svg'];

const committedCommit = (name: string) => {
  assert.ok(existsSync(join(BENCH, name)), `${name} is missing`);
  return commitIn(readFileSync(join(BENCH, name), 'utf8'));
};

test('the committed results come from one complete run, and the documentation names its commit', () => {
  const commits = FILES.map(committedCommit);
  for (const commit of commits)
    assert.match(commit ?? 'none', /^[0-9a-f]+$/, 'the results were measured with local changes');
  const [commit = 'none'] = commits;
  assert.deepEqual(
    commits,
    FILES.map(() => commit),
  );
  const text = readFileSync(join(BENCH, '..', 'docs', 'performance.md'), 'utf8');
  assert.ok(text.includes(commit), `performance.md does not name ${commit}`);
});

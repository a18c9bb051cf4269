import { expect, it } from 'vitest';
import { createWalkProgress } from '../../../src/cli/terminal/walk-progress.ts';

it('the total of the progress stays the same while the number of planned requests changes', () => {
  const shown: string[] = [];
  const progress = createWalkProgress({ live: (text) => void shown.push(text), err: () => undefined }, 200);
  for (const [sent, left] of [
    [1, 9],
    [50, 400],
    [100, 3],
  ] as const)
    progress.step({ sent, left, operation: 'listQuestions' });
  progress.step({ sent: 101, operation: 'undocumented paths' });
  progress.end();
  expect(shown).toEqual([
    `[${' '.repeat(24)}] 1 of at most 200 requests  listQuestions`,
    `[${'#'.repeat(6)}${' '.repeat(18)}] 50 of at most 200 requests  listQuestions`,
    `[${'#'.repeat(12)}${' '.repeat(12)}] 100 of at most 200 requests  listQuestions`,
    '101 requests  undocumented paths',
    '',
  ]);
});

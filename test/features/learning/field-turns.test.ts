import { expect, it } from 'vitest';
import { createFieldTurns } from '../../../src/features/learning/field-turns.ts';

it('the fields of the first responses of a release are all sampled, and later ones every ten seconds', () => {
  const { take } = createFieldTurns();
  const sampled = (release: string, operation: string, now: number, times: number) =>
    Array.from({ length: times }, () => take(release, operation, now)).filter(Boolean).length;
  expect(sampled('4.1', 'listQuestions', 0, 100)).toBe(64);
  expect(sampled('4.1', 'listQuestions', 9_999, 1)).toBe(0);
  expect(sampled('4.1', 'listQuestions', 10_000, 2)).toBe(1);
  expect(sampled('4.1', 'listIdeas', 10_000, 100)).toBe(64);
  expect(sampled('4.2', 'listQuestions', 10_000, 100)).toBe(64);
});

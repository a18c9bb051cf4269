import { PROFILE } from '../../../src/profile/profile.ts';
import { expect, it } from 'vitest';
import { createWalkProgress, walkFailure } from '../../../src/cli/terminal/walk-output.ts';

const URL = 'http://127.0.0.1:9';
const lineOf = (user?: string) => ({ last: (name: string) => ({ against: URL, user })[name] });
const walkedWith = (...statuses: readonly (readonly [number, number])[]) => ({
  ended: 'complete' as const,
  failure: undefined,
  walked: statuses.map(([status, requests]) => ({
    operation: 'listQuestions',
    requests,
    statuses: new Map([[status, requests]]),
  })),
});

it.each([
  [401, undefined, 'responded with 401 to all requests: set --user NAME and PORTICO_PASSWORD.'],
  [401, 'checker', 'responded with 401 to all requests: the name or the password is wrong.'],
  [403, 'checker', 'responded with 403 to all requests: access denied for checker.'],
  [404, 'checker', 'responded with 404 to all requests: the base path is wrong; the URL must end before /services/v2'],
  [302, 'checker', 'responded with 302 to all requests: it redirects'],
  [503, undefined, 'responded with 503 to all requests.'],
])('a walk with only %i responses fails with a hint', (status, user, words) => {
  expect(walkFailure(walkedWith([status, 3], [status, 1]), lineOf(user), PROFILE)).toContain(`${URL} ${words}`);
});

it('a walk without a successful response fails, whatever the statuses are', () => {
  expect(walkFailure(walkedWith([403, 2], [404, 1], [0, 1]), lineOf(), PROFILE)).toBe(
    `${URL} returned no successful response: status 403 ×2, status 404 ×1, no response ×1.`,
  );
});

it('a walk without any response fails, even if it reached its request limit', () => {
  expect(walkFailure(walkedWith([0, 3]), lineOf(), PROFILE)).toContain(`${URL} does not respond.`);
});

it('a walk with one successful response succeeds, and so does one without requests', () => {
  expect(walkFailure(walkedWith([401, 9], [200, 1]), lineOf(), PROFILE)).toBeUndefined();
  expect(walkFailure(walkedWith(), lineOf(), PROFILE)).toBeUndefined();
});

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

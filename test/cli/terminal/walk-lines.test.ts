import { expect, it } from 'vitest';
import { walkFailure } from '../../../src/cli/terminal/walk-lines.ts';

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
  [401, undefined, 'answers 401 to everything: give --user NAME and PORTICO_PASSWORD.'],
  [401, 'checker', 'answers 401 to everything: the name or the password is wrong.'],
  [403, 'checker', 'answers 403 to everything: checker may see nothing there.'],
  [404, 'checker', 'answers 404 to everything: give the address as far as what stands before /services/v2'],
  [302, 'checker', 'answers 302 to everything: it sends on to another address'],
  [503, undefined, 'answers 503 to everything, which is no success.'],
])('a walk that met nothing but %i failed, and says what to look at', (status, user, words) => {
  expect(walkFailure(walkedWith([status, 3], [status, 1]), lineOf(user))).toContain(`${URL} ${words}`);
});

it('a walk without any success failed, however it was refused', () => {
  expect(walkFailure(walkedWith([403, 2], [404, 1], [0, 1]), lineOf())).toBe(
    `${URL} answers nothing with success: status 403 ×2, status 404 ×1, no answer ×1.`,
  );
});

it('a walk that nobody answered says so, although its requests were used up', () => {
  expect(walkFailure(walkedWith([0, 3]), lineOf())).toContain(`${URL} does not answer.`);
});

it('a walk with one success went well, and so did one that asked for nothing', () => {
  expect(walkFailure(walkedWith([401, 9], [200, 1]), lineOf())).toBeUndefined();
  expect(walkFailure(walkedWith(), lineOf())).toBeUndefined();
});

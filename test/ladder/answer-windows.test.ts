import { describe, expect, it } from 'vitest';
import { createAnswerWindows } from '../../src/ladder/answer-windows.ts';
import type { LadderEvidence } from '../../src/ladder/ladder-step.ts';
import { NOW } from './levels.ts';

const OPTIONS = { enabled: true, share: 0.5, windowSeconds: 60, minAnswers: 10 };

function windows() {
  const made = createAnswerWindows(OPTIONS, ['listIdeas']);
  return (count: number, failed: boolean, { caller = 'alice', at = NOW, operation = 'listIdeas' } = {}) => {
    let evidence: LadderEvidence | undefined;
    for (let index = 0; index < count; index += 1) evidence ??= made.take(operation, { caller, failed }, at);
    return evidence;
  };
}

describe('the window of answers', () => {
  it('speaks once the share of enough answers is exceeded, not when it is reached', () => {
    const take = windows();
    take(10, false);
    expect(take(10, true)).toBeUndefined();
    expect(take(1, true)).toEqual({ judged: 21, failed: 11, windowSeconds: 60 });
  });

  it('believes no share of too few answers', () => {
    const take = windows();
    expect(take(9, true)).toBeUndefined();
    expect(take(1, true)).toBeDefined();
  });

  it('forgets what has left the window', () => {
    const take = windows();
    take(9, true);
    expect(take(9, true, { at: NOW + 60_000 })).toBeUndefined();
    expect(take(1, true, { at: NOW + 60_000 })).toEqual({ judged: 10, failed: 10, windowSeconds: 60 });
  });

  it('starts anew after it spoke', () => {
    const take = windows();
    expect(take(10, true)).toBeDefined();
    expect(take(9, true)).toBeUndefined();
  });

  it('is not moved by one caller where the others have enough good answers', () => {
    const take = windows();
    take(10, false, { caller: 'bob' });
    expect(take(500, true, { caller: 'mallory' })).toBeUndefined();
  });

  it('is moved by one caller where the others have too few answers to be believed', () => {
    const take = windows();
    take(9, false, { caller: 'bob' });
    expect(take(11, true, { caller: 'mallory' })).toMatchObject({ judged: 19, failed: 10 });
  });

  it('is moved where the answers to the others fail too', () => {
    const take = windows();
    take(10, false, { caller: 'bob' });
    expect(take(100, true, { caller: 'dave' })).toBeUndefined();
    expect(take(10, true, { caller: 'bob' })).toBeUndefined();
    expect(take(1, true, { caller: 'bob' })).toMatchObject({ judged: 121, failed: 111 });
  });

  it('tells a bounded number of callers apart', () => {
    const take = windows();
    for (let index = 0; index < 1000; index += 1) take(1, false, { caller: `caller ${index}` });
    expect(take(2000, true, { caller: 'one too many' })).toBeUndefined();
  });

  it('knows nothing of other operations', () => {
    const take = windows();
    expect(take(100, true, { operation: 'listUsers' })).toBeUndefined();
  });
});

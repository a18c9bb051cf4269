import { describe, expect, it } from 'vitest';
import { createResponseWindows } from '../../src/ladder/response-windows.ts';
import type { LadderEvidence } from '../../src/ladder/ladder-step.ts';
import { NOW } from './levels.ts';

const OPTIONS = { enabled: true, share: 0.5, windowSeconds: 60, minAnswers: 10 };

function windows() {
  const made = createResponseWindows(OPTIONS, ['listIdeas']);
  return (count: number, failed: boolean, { caller = 'alice', at = NOW, operation = 'listIdeas' } = {}) => {
    let evidence: LadderEvidence | undefined;
    for (let index = 0; index < count; index += 1) evidence ??= made.take(operation, { caller, failed }, at);
    return evidence;
  };
}

describe('the window of responses', () => {
  it('reports when the share is exceeded with enough responses, not when it is reached', () => {
    const take = windows();
    take(10, false);
    expect(take(10, true)).toBeUndefined();
    expect(take(1, true)).toEqual({ judged: 21, failed: 11, windowSeconds: 60 });
  });

  it('ignores the share of too few responses', () => {
    const take = windows();
    expect(take(9, true)).toBeUndefined();
    expect(take(1, true)).toBeDefined();
  });

  it('ignores responses that are older than the window', () => {
    const take = windows();
    take(9, true);
    expect(take(9, true, { at: NOW + 60_000 })).toBeUndefined();
    expect(take(1, true, { at: NOW + 60_000 })).toEqual({ judged: 10, failed: 10, windowSeconds: 60 });
  });

  it('starts again after a report', () => {
    const take = windows();
    expect(take(10, true)).toBeDefined();
    expect(take(9, true)).toBeUndefined();
  });

  it('is not affected by one caller if the others have enough valid responses', () => {
    const take = windows();
    take(10, false, { caller: 'bob' });
    expect(take(500, true, { caller: 'mallory' })).toBeUndefined();
  });

  it('is affected by one caller if the others have too few responses', () => {
    const take = windows();
    take(9, false, { caller: 'bob' });
    expect(take(11, true, { caller: 'mallory' })).toMatchObject({ judged: 19, failed: 10 });
  });

  it('reports if the responses to the others fail too', () => {
    const take = windows();
    take(10, false, { caller: 'bob' });
    expect(take(100, true, { caller: 'dave' })).toBeUndefined();
    expect(take(10, true, { caller: 'bob' })).toBeUndefined();
    expect(take(1, true, { caller: 'bob' })).toMatchObject({ judged: 121, failed: 111 });
  });

  it('distinguishes a bounded number of callers', () => {
    const take = windows();
    for (let index = 0; index < 1000; index += 1) take(1, false, { caller: `caller ${index}` });
    expect(take(2000, true, { caller: 'one too many' })).toBeUndefined();
  });

  it('ignores other operations', () => {
    const take = windows();
    expect(take(100, true, { operation: 'listUsers' })).toBeUndefined();
  });
});

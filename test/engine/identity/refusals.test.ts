import { describe, expect, it } from 'vitest';
import { BASIC_SCHEME } from '../../../src/engine/identity/basic-scheme.ts';
import { challengesOf, undecidedRefusal } from '../../../src/engine/identity/refusals.ts';

describe('the refusal of a caller whose credential could not be verified', () => {
  it.each([
    ['too_many_attempts', 429, 'Too many login attempts; try again later.'],
    ['verification_unavailable', 503, 'The credential cannot be verified now; try again later.'],
  ])('tells the caller to try again after %s', (reason, status, message) => {
    const error = undecidedRefusal(reason);
    expect(error).toMatchObject({ code: reason, status, message, headers: { 'Retry-After': '5' } });
    expect(error?.headers).not.toHaveProperty('WWW-Authenticate');
  });

  it.each([undefined, '', 'credentials_refused', 'verification_pending'])('is none after %j', (reason) => {
    expect(undecidedRefusal(reason)).toBeUndefined();
  });
});

it('verifiers of the same scheme have one challenge', () => {
  const one = 'Basic realm="a", charset="UTF-8"';
  expect(challengesOf([BASIC_SCHEME, BASIC_SCHEME], 'a')).toBe(one);
});

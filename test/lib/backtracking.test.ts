import { describe, expect, it } from 'vitest';
import { createSlownessCheck, superLinear } from '../../src/lib/backtracking.ts';

const growthOf = ({ source, flags }: RegExp) => superLinear(source, flags)?.growth;

describe('the growth of the time that an expression takes', () => {
  it.each([
    /(a+)+$/u,
    /(a|a)*b/u,
    /(x+x+)+y/u,
    /^(\w+\s?)*$/u,
    /^(?:ab|ba|a)*$/u,
    // The iterations of the outer loop can be divided in several ways.
    /^(?:(?:ab)*)*$/u,
    /^(?:(?:ab)+)+$/u,
    /^(?:a?b?)*$/u,
    // One of several empty alternatives can be chosen.
    /^(?:(?:a?|b?)c)*$/u,
    /^(?:(?:|)c)*x/u,
    // The text can be read in any of the required iterations.
    /^(?:(?:a?){3}b)*$/u,
  ])('is exponential for %s', (expression) => {
    expect(growthOf(expression)).toBe('exponential');
  });

  it.each([/^\s+|\s+$/u, /(.*a){12}/u, /^(?:ab)*(?:ab)*$/u, /.*foo.*bar/iu, /[^@]+@/u])(
    'is polynomial for %s',
    (expression) => {
      expect(growthOf(expression)).toBe('polynomial');
    },
  );

  it.each([
    /^[0-9]+$/u,
    /^(?:a?b)*$/u,
    /^(?:\ba\b ?)*$/u,
    /^(?:ab|aba)*$/u,
    /^(?:[^@]+@)+[a-z.]+$/u,
    /^\d{4}-\d\d(?:-\d\d)?$/u,
    /^https?:\/\/[^/?#\s]+\/(?:[^/]+\/)*$/u,
    /\n/u,
    /^(?:[a-z]+(?:-[a-z]+)*-?)?$/u,
    /^\s|\s$/u,
  ])('is linear for %s', (expression) => {
    expect(growthOf(expression)).toBeUndefined();
  });
});

describe('the check of an operator’s expression', () => {
  const check = createSlownessCheck({ each: 60_000, all: 60_000 });

  it('describes what is slow and how to change it', () => {
    expect(check('(a+)+$', 'u')).toBe(
      'the pattern (a+)+$ takes time that grows exponentially with the length of a text that repeats "a"; rewrite it so that a text can match it in only one way',
    );
    expect(check('^\\s+|\\s+$', 'u')).toMatch(
      /takes time that grows at least with the square of the length of a text that repeats " "/,
    );
    expect(check('^[0-9]+$', 'u')).toBeUndefined();
  });

  it('stops when its time is over, and says that it cannot tell', () => {
    const undecided = /^the check cannot tell whether the pattern .* can be slow/;
    expect(createSlownessCheck({ each: 20, all: 5000 })('^(?:[a-z0-9]{300}){300}$', 'u')).toMatch(undecided);
    const short = createSlownessCheck({ each: 5000, all: 20 });
    expect(short('^(?:[a-z0-9]{300}){300}$', 'u')).toMatch(undecided);
    expect(short('(a+)+$', 'u')).toMatch(undecided);
  });

  it('cannot tell for some backreferences', () => {
    expect(check(String.raw`^(a+)b\1*$`, 'u')).toMatch(/^the check cannot tell/);
  });
});

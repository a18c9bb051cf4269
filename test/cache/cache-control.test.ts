import { describe, expect, it } from 'vitest';
import { cacheDirectives, directiveSeconds, mayBypass } from '../../src/cache/cache-control.ts';

describe('Cache-Control', () => {
  const read = (...values: string[]) => cacheDirectives(values.map((value) => ['Cache-Control', value]));

  it('is parsed case-insensitively, across several headers, with quoted and plain arguments', () => {
    const directives = read('No-Store, max-age=60', 'private="set-cookie, no-cache", S-MaxAge="5"');
    expect([...directives.keys()]).toEqual(['no-store', 'max-age', 'private', 's-maxage']);
    expect(directiveSeconds(directives, 's-maxage')).toBe(5);
  });

  it('is parsed past an invalid member', () => {
    expect(read('max-age=60;x, @@, no-store').has('no-store')).toBe(true);
  });

  it('returns the smallest of several ages, and 0 for an invalid one', () => {
    expect(directiveSeconds(read('max-age=60, max-age=5'), 'max-age')).toBe(5);
    expect(directiveSeconds(read('max-age=-1'), 'max-age')).toBe(0);
    expect(directiveSeconds(read('max-age'), 'max-age')).toBe(0);
    expect(directiveSeconds(read('max-age=1e3'), 'max-age')).toBe(0);
    expect(directiveSeconds(read('no-store'), 'max-age')).toBeUndefined();
  });
});

describe("a client's no-cache", () => {
  const asks = (cacheControl?: string, pragma?: string) => ({ cacheControl, pragma });

  it('is ignored unless a role of the caller allows it', () => {
    expect(mayBypass(asks('no-cache'), ['standard'], [])).toBe(false);
    expect(mayBypass(asks('no-cache'), ['standard'], ['operators'])).toBe(false);
    expect(mayBypass(asks('no-cache'), ['standard', 'operators'], ['operators'])).toBe(true);
  });

  it.each(['no-cache', 'No-Cache', 'no-store', 'max-age=0', 'foo, no-cache'])('can be sent as %s', (value) => {
    expect(mayBypass(asks(value), ['operators'], ['operators'])).toBe(true);
  });

  it('can be sent as Pragma only without Cache-Control', () => {
    expect(mayBypass(asks(undefined, 'no-cache'), ['operators'], ['operators'])).toBe(true);
    expect(mayBypass(asks('max-age=60', 'no-cache'), ['operators'], ['operators'])).toBe(false);
  });

  it('is not inferred from other directives', () => {
    expect(mayBypass(asks('max-age=60'), ['operators'], ['operators'])).toBe(false);
    expect(mayBypass(asks(), ['operators'], ['operators'])).toBe(false);
  });
});

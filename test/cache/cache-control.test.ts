import { describe, expect, it } from 'vitest';
import { cacheDirectives, directiveSeconds } from '../../src/cache/cache-control.ts';

const read = (...values: string[]) => cacheDirectives(values.map((value) => ['Cache-Control', value]));

describe('Cache-Control', () => {
  it('is read without case, over several fields, with quoted and plain arguments', () => {
    const directives = read('No-Store, max-age=60', 'private="set-cookie, no-cache", S-MaxAge="5"');
    expect([...directives.keys()]).toEqual(['no-store', 'max-age', 'private', 's-maxage']);
    expect(directiveSeconds(directives, 's-maxage')).toBe(5);
  });

  it('is read on behind a member that cannot be read', () => {
    expect(read('max-age=60;x, @@, no-store').has('no-store')).toBe(true);
  });

  it('gives the smallest of several ages, and 0 for an unreadable one', () => {
    expect(directiveSeconds(read('max-age=60, max-age=5'), 'max-age')).toBe(5);
    expect(directiveSeconds(read('max-age=-1'), 'max-age')).toBe(0);
    expect(directiveSeconds(read('max-age'), 'max-age')).toBe(0);
    expect(directiveSeconds(read('max-age=1e3'), 'max-age')).toBe(0);
    expect(directiveSeconds(read('no-store'), 'max-age')).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { mayBypass } from '../../src/cache/may-bypass.ts';

const asks = (cacheControl?: string, pragma?: string) => ({ cacheControl, pragma });

describe("a client's no-cache", () => {
  it('is ignored unless it is permitted to a role of the caller', () => {
    expect(mayBypass(asks('no-cache'), ['standard'], [])).toBe(false);
    expect(mayBypass(asks('no-cache'), ['standard'], ['operators'])).toBe(false);
    expect(mayBypass(asks('no-cache'), ['standard', 'operators'], ['operators'])).toBe(true);
  });

  it.each(['no-cache', 'No-Cache', 'no-store', 'max-age=0', 'foo, no-cache'])('may be written as %s', (value) => {
    expect(mayBypass(asks(value), ['operators'], ['operators'])).toBe(true);
  });

  it('may be the old Pragma only where Cache-Control is absent', () => {
    expect(mayBypass(asks(undefined, 'no-cache'), ['operators'], ['operators'])).toBe(true);
    expect(mayBypass(asks('max-age=60', 'no-cache'), ['operators'], ['operators'])).toBe(false);
  });

  it('is not read into other wishes', () => {
    expect(mayBypass(asks('max-age=60'), ['operators'], ['operators'])).toBe(false);
    expect(mayBypass(asks(), ['operators'], ['operators'])).toBe(false);
  });
});

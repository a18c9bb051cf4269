import { describe, expect, it } from 'vitest';
import { parseHttpDate } from '../../src/lib/http-date.ts';

const NOW = Date.UTC(2026, 10, 5);
const EXPECTED = Date.UTC(1994, 10, 6, 8, 49, 37);

describe('an HTTP date', () => {
  it.each([
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    ' Sun, 06 Nov 1994 08:49:37 GMT ',
  ])('is read in the form %j', (text) => {
    expect(parseHttpDate(text, NOW)).toBe(EXPECTED);
  });

  it('with a year of two digits is at most 50 years in the future', () => {
    expect(parseHttpDate('Sunday, 06-Nov-76 08:49:37 GMT', NOW)).toBe(Date.UTC(2076, 10, 6, 8, 49, 37));
    expect(parseHttpDate('Sunday, 06-Nov-77 08:49:37 GMT', NOW)).toBe(Date.UTC(1977, 10, 6, 8, 49, 37));
  });

  it('may contain a leap second', () => {
    expect(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT', NOW)).toBe(Date.UTC(2017, 0, 1));
  });

  it.each([
    '',
    '0',
    '-1',
    'now',
    '2026-11-05',
    '2026-11-05T10:00:00Z',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:49:37 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'sun, 06 nov 1994 08:49:37 gmt',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
  ])('is not %j', (text) => {
    expect(parseHttpDate(text, NOW)).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { plainName } from '../../src/lib/plain-name.ts';

describe('a name that may be repeated', () => {
  it.each(['id', 'creationDateFormatted', '_links', '$ref', 'x2', 'sha256', '48x48', 'isHTML', 'utf8mb4'])(
    '%s is a plain identifier',
    (name) => {
      expect(plainName(name)).toBe(name);
    },
  );

  it.each([
    ['an e-mail address', 'bob@example.com'],
    ['a name with a dot, which may be a host or a person', 'bob.smith'],
    ['a name with a dash, as callers and addresses have them', 'bob-smith'],
    ['a number, which may be an id', '4711'],
    ['a blank', 'first name'],
    ['a slash', 'a/b'],
    ['nothing', ''],
    ['letters beyond ASCII', 'größe'],
    ['more than 64 characters', 'a'.repeat(65)],
    ['a token in hexadecimal digits', 'd41d8cd98f00b204'],
    ['a token with a prefix', 'sk_live_4eC39HqLyjWDarjt'],
    ['the head of a signed token', 'eyJhbGciOiJIUzI1NiJ9'],
    ['letters in changing case', 'qWxYkLmPoTrZvBnA'],
    ['a UUID', 'b3f1c2d4-0a1b-4c2d-8e3f-123456789abc'],
  ])('%s is not repeated', (_what, name) => {
    expect(plainName(name)).toBe('?');
  });
});

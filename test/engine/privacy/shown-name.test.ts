import { describe, expect, it } from 'vitest';
import { isFieldName, isWord, plainName } from '../../../src/engine/privacy/shown-name.ts';

describe('a name that may be repeated', () => {
  it.each(['id', 'creationDateFormatted', '_links', '$ref', 'x2', 'sha256', '48x48', 'isHTML', 'utf8mb4'])(
    '%s is a plain identifier',
    (name) => {
      expect(plainName(name)).toBe(name);
    },
  );

  it.each([
    ['an email address', 'bob@example.com'],
    ['a name with a dot, which may be a host or a person', 'bob.smith'],
    ['a name with a hyphen, as people and addresses have', 'bob-smith'],
    ['a number, which may be an id', '4711'],
    ['a space', 'first name'],
    ['a slash', 'a/b'],
    ['nothing', ''],
    ['letters beyond ASCII', 'größe'],
    ['more than 64 characters', 'questionTitle'.repeat(5)],
    ['a token in hexadecimal digits', 'd41d8cd98f00b204'],
    ['a token with a prefix', 'sk_live_4eC39HqLyjWDarjt'],
    ['the header of a signed token', 'eyJhbGciOiJIUzI1NiJ9'],
    ['letters in alternating case', 'qWxYkLmPoTrZvBnA'],
    ['a UUID', 'b3f1c2d4-0a1b-4c2d-8e3f-123456789abc'],
  ])('%s is not repeated', (_what, name) => {
    expect(plainName(name)).toBe('?');
  });
});

// Some people are allowed to read proposals but not responses.
const SECRETS = [
  'xkqzvbnmwtrplkjh',
  'aagzoggelbsmwgwagecxahip',
  'glpat-ABCDefghIJKLmnop',
  'rk_live_abcdefghijklmnop',
  'JBSWYDPEHPKPXPQZ',
];

describe('a field name', () => {
  it.each(['id', 'creationDate', 'avatar48', 'md5', 'is_locked', 'content-type'])('may be %s', (name) => {
    expect(isFieldName(name)).toBe(true);
  });

  it.each([
    ...SECRETS,
    'user1234',
    'bob@mail.example',
    'first name',
    '4711',
    'ip_10_20_30_40',
    'c41_11_11_11_11',
    'deadbeefcafe',
  ])('may not be %s', (name) => {
    expect(isFieldName(name)).toBe(false);
  });
});

describe('a plain word', () => {
  it.each(['accepted', 'ACCEPTED', 'community-wiki', 'in_review'])('may be %s', (text) => {
    expect(isWord(text)).toBe(true);
  });

  it.each([...SECRETS, 'two words', 'bob@mail.example', 'x1'])('may not be %s', (text) => {
    expect(isWord(text)).toBe(false);
  });
});

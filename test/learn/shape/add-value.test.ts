import { describe, expect, it } from 'vitest';
import { isFieldName, isWord } from '../../../src/learn/shape/add-value.ts';

// What is written into a proposal is read by people who may read no answer.
const SECRETS = [
  'xkqzvbnmwtrplkjh',
  'aagzoggelbsmwgwagecxahip',
  'glpat-ABCDefghIJKLmnop',
  'rk_live_abcdefghijklmnop',
  'JBSWYDPEHPKPXPQZ',
];

describe('the name of a field', () => {
  it.each(['id', 'creationDate', 'avatar48', 'md5', 'is_locked', 'content-type'])('is %s', (name) => {
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
  ])('is not %s', (name) => {
    expect(isFieldName(name)).toBe(false);
  });
});

describe('a word', () => {
  it.each(['accepted', 'ACCEPTED', 'community-wiki', 'in_review'])('is %s', (text) => {
    expect(isWord(text)).toBe(true);
  });

  it.each([...SECRETS, 'two words', 'bob@mail.example', 'x1'])('is not %s', (text) => {
    expect(isWord(text)).toBe(false);
  });
});

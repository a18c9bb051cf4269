import { describe, expect, it } from 'vitest';
import { describeValue, SIZE_ONLY, createNameTag } from '../../../src/engine/privacy/describe-value.ts';

const FORM = { form: true, word: false };

describe('the description of a value', () => {
  it.each([
    [null, 'null'],
    [true, 'boolean'],
    [7, 'integer'],
    [7.5, 'number'],
    [[], 'list of 0'],
    [[1, 2, 3], 'list of 3'],
    [{}, 'object with 0 members'],
    [{ a: 1 }, 'object with 1 member'],
    ['', 'empty text'],
    ['x', 'text of 1 character'],
    ['bob@example.com', 'text of 15 characters'],
  ])('includes type and size for %j', (value, description) => {
    expect(describeValue(value, SIZE_ONLY)).toBe(description);
  });

  it.each([
    ['12', 'text of 2 characters, like a number'],
    ['2019-02-06 15:01:00.0', 'text of 21 characters, like a date'],
    ['02/07/2019 03:05 PM', 'text of 19 characters, like a date'],
    ['Thu Feb 07 15:05:50 UTC 2019', 'text of 28 characters, like a date'],
    ['https://community.example/a.png', 'text of 31 characters, like a URL'],
    ['bob@example.com', 'text of 15 characters, like an email address'],
    ['<p>hello</p>', 'text of 12 characters, like HTML'],
    ['hello there', 'text of 11 characters'],
  ])('includes the form of %s', (value, description) => {
    expect(describeValue(value, FORM)).toBe(description);
  });

  it('repeats a single plain word and nothing else', () => {
    const word = { form: true, word: true };
    expect(describeValue('ARCHIVED', word)).toBe('the word ARCHIVED');
    for (const text of ['two words', 'a1', 'x'.repeat(33), 'bob@example.com'])
      expect(describeValue(text, word)).not.toContain(text);
  });

  it('matches only the beginning of a long text', () => {
    expect(describeValue(`${'x'.repeat(1e6)}@example.com`, FORM)).toBe('text of 1000012 characters');
  });
});

it('a tag is stable under one key and different under another key', () => {
  const [one, two] = [createNameTag(), createNameTag()];
  expect(one('alice')).toBe(one('alice'));
  expect(one('alice')).not.toBe(one('bob'));
  expect(one('alice')).not.toBe(two('alice'));
});

it('a tag stays the same after its cache entry is dropped', () => {
  const tag = createNameTag();
  const before = tag('alice');
  for (let index = 0; index < 3000; index++) tag(`name ${index}`);
  expect(tag('alice')).toBe(before);
});

import { expect, it } from 'vitest';
import { createNameTag } from '../../src/privacy/name-tag.ts';

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

import { expect, it } from 'vitest';
import { suggest } from '../../src/config/suggest.ts';

it.each([
  ['respones', 'responses'],
  ['PORT', 'port'],
  ['pagebound', 'pageBounds'],
  ['zzz', undefined],
  ['x', undefined],
])('what was meant by %s is %s', (word, meant) => {
  expect(suggest(word, ['responses', 'port', 'pageBounds', 'ab'])).toBe(meant);
});

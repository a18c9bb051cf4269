import { expect, it } from 'vitest';
import { createPersonalMemory, wordsOf } from '../../../src/engine/privacy/personal-memory.ts';

it.each(['Jana Nováková', 'jana_novakova', 'janaNovakova', 'Jana.Novakova@mail.example', 'NOVÁKOVÁ, Jana'])(
  'recognizes the words of a name however it is written: %s',
  (text) => {
    expect([...wordsOf(text)].toSorted()).toEqual(['jana', 'novakova']);
  },
);

it.each([
  ['a sentence', 'these are words that everybody has'],
  ['a picture path', '/avatars/default/large.png'],
  ['an address', 'https://qa.example/users/all'],
])('treats the words of %s as not personal', (_what, text) => {
  expect(wordsOf(text)).toEqual([]);
});

it('the memory of personal values is bounded, because the upstream decides how many there are', () => {
  const memory = createPersonalMemory(3);
  for (const name of ['Jana', 'Petr', 'Eva', 'Karel']) memory.remember(name);
  expect(['jana', 'eva', 'karel'].map(memory.contains)).toEqual([true, true, false]);
});

import { expect, it } from 'vitest';
import { wordsOf } from '../../src/privacy/personal-memory.ts';

it.each(['Jana Nováková', 'jana_novakova', 'janaNovakova', 'Jana.Novakova@mail.example', 'NOVÁKOVÁ, Jana'])(
  'knows the words of a name however it is written: %s',
  (text) => {
    expect([...wordsOf(text)].toSorted()).toEqual(['jana', 'novakova']);
  },
);

it.each([
  ['a sentence', 'these are words that everybody has'],
  ['the path of a picture', '/avatars/default/large.png'],
  ['an address', 'https://qa.example/users/all'],
])('takes the words of %s for nobody’s', (_what, text) => {
  expect(wordsOf(text)).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import { valueAt } from '../../src/lib/value-at.ts';

describe('the value at a pointer', () => {
  it.each([
    [{ a: { b: 1 } }, '/a/b', 1],
    [{ 'a/b': { '~': 1 } }, '/a~1b/~0', 1],
    [{ a: [5] }, '/a/0', 5],
    [{ a: 1 }, '', { a: 1 }],
    [{ a: null }, '/a/b', undefined],
    [undefined, '/a', undefined],
    [{}, '/constructor', undefined],
  ])('of %j at %s is %j', (json, pointer, value) => {
    expect(valueAt(json, pointer)).toEqual(value);
  });
});

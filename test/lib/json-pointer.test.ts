import { describe, expect, it } from 'vitest';
import { escapePointer, keysOf, pointerTo, valueAt } from '../../src/lib/json-pointer.ts';

describe('a JSON pointer', () => {
  it('is built from names and indices', () => {
    expect(pointerTo(['paths', '/question.json', 'get', 0])).toBe('/paths/~1question.json/get/0');
    expect(pointerTo([])).toBe('');
  });

  it('returns its original names, whatever characters they contain', () => {
    const names = ['a/b', '~1', '~', '', 'x~0/y'];
    expect(keysOf(pointerTo(names))).toEqual(names);
    expect(keysOf('')).toEqual([]);
  });

  it('escapes a single name', () => {
    expect(escapePointer('~/')).toBe('~0~1');
  });
});

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

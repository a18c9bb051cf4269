import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/lib/parse-json.ts';

describe('a JSON text', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['\uFEFF[1]', [1]],
    ['null', null],
    ['', undefined],
    ['<html>', undefined],
    ['\uFEFF\uFEFF[1]', undefined],
  ])('%j is parsed as %j', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });
});

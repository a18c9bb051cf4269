import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countMembers, describeExcess, type JsonExcess, parseBounded } from '../../src/lib/bounded-json.ts';

const LIMITS = { depth: 4, values: 10 };
const parse = (text: string, limits = LIMITS) => parseBounded(Buffer.from(text), limits);
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

/*
 * The attack: megabytes of brackets, commas or names. They take seconds to parse and overflow the stack of any code
 * that traverses the result. The parser therefore checks the limits while it reads the bytes, before it creates any
 * value.
 */
describe('the limits of a JSON text', () => {
  it.each([
    ['arrays', nested(5), 'depth'],
    ['objects', '{"a":'.repeat(5), 'depth'],
    ['both', '[{"a":[{"a":['.repeat(2), 'depth'],
    ['eight megabytes of brackets', '['.repeat(8 * 1024 * 1024), 'depth'],
    ['elements', `[${'1,'.repeat(10)}1]`, 'values'],
    ['members', `{${Array.from({ length: 11 }, (_, at) => `"key${at}":1`).join()}}`, 'values'],
    ['empty objects', `[${'{},'.repeat(5)}{}]`, 'values'],
    ['a number with very many digits', `{"a":${'9'.repeat(1000)}}`, 'values'],
    ['white space before it', `${' '.repeat(1000)}1`, 'values'],
    ['white space after it', `1${' '.repeat(1000)}`, 'values'],
    ['white space inside', `[1,${' '.repeat(1000)}1]`, 'values'],
    ['one million numbers', `[${'1,'.repeat(1_000_000)}1]`, 'values'],
  ])('are exceeded by %s', (_, text, limit) => {
    expect(parse(text)).toEqual({ state: 'excess', limit });
  });

  it('admit a text of exactly the allowed depth and number of values', () => {
    expect(parse(nested(4)).state).toBe('parsed');
    expect(parse('[1,2,3,4,5,6,7,8,9]').state).toBe('parsed');
    expect(parse('[1,2,3,4,5,6,7,8,9,0]')).toEqual({ state: 'excess', limit: 'values' });
  });

  it('ignore the contents of strings, including escapes', () => {
    const text = '[{,"}]'.repeat(20);
    for (const inside of [text, `${text}\\`, '\\"'.repeat(40), `${'x'.repeat(60)}"${text}`, '\\'.repeat(33)])
      expect(parse(JSON.stringify({ a: inside }))).toMatchObject({ state: 'parsed', value: { a: inside }, members: 1 });
  });

  it.each(['', '[', '{"a":1', '"a', '"a\\', '[1,]', '{"a"}', ']]]]', 'x'])('leave %j malformed', (text) => {
    expect(parse(text)).toEqual({ state: 'malformed' });
  });

  it('are described in words', () => {
    const words = (limit: JsonExcess) => describeExcess('The body', limit, LIMITS, 'listen.');
    expect(words('depth')).toBe('The body is nested deeper than 4 levels, which is the limit of listen.maxJsonDepth.');
    expect(words('values')).toBe(
      'The body has more than 10 values, which is the limit of listen.maxJsonValues. Every 64 bytes of a number or white space count as a value.',
    );
    expect(words('escapes')).toBe(
      'The body has more than 160 escapes in its strings, which is the limit of listen.maxJsonValues (16 escapes per value).',
    );
  });
});

describe('a JSON text within its limits', () => {
  const wide = { depth: 1000, values: 100_000 };

  it('parses like JSON.parse, with its members counted', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        // The generated JSON contains no duplicate names, so a document and its parsed value have the same number of
        // members.
        const value = JSON.parse(text) as unknown;
        expect(parse(text, wide)).toEqual({ state: 'parsed', value, members: countMembers(value) });
      }),
      { numRuns: 300, seed: 16 },
    );
  });

  it.each(['<html>', '\0', '\uFEFF<', 'x'])('is malformed if it begins with %j, whatever its size', (beginning) => {
    const text = Buffer.from(beginning + ' '.repeat(10_000));
    expect(parseBounded(text, { depth: 1, values: 1 })).toEqual({ state: 'malformed' });
  });

  it('may begin with a byte order mark', () => {
    expect(parse('\uFEFF{"a":1}')).toMatchObject({ state: 'parsed', value: { a: 1 } });
  });

  it.each([
    ['a duplicate name', '{"a":1,"a":2}'],
    ['a duplicate name with an escape', '{"a":1,"\\u0061":2}'],
    ['a nested duplicate name', '{"b":[{"a":1,"a":1}]}'],
    ['a duplicate inherited name', '{"__proto__":1,"__proto__":1}'],
  ])('has more members than its value with %s', (_, text) => {
    const parsed = parse(text);
    expect(parsed.state === 'parsed' && parsed.members > countMembers(parsed.value)).toBe(true);
  });
});

describe('a text that is not UTF-8', () => {
  it.each([
    ['in a string', [0x22, 0xff, 0x22]],
    ['in place of a name', [0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]],
    ['cut in the middle of a character', [0x22, 0xe2, 0x82, 0x22]],
  ])('is malformed, %s', (_where, bytes) => {
    expect(parseBounded(Buffer.from(bytes), { depth: 4, values: 10 })).toEqual({ state: 'malformed' });
  });
});

describe('a text of many escapes', () => {
  // Before this limit existed, four million escaped quotes (8 MB) kept the parser busy for 70 ms.
  it.each(['\\"', '\\n', '\\u0041'])(
    'has a limit of its own, and exceeds it with more than 16 escapes %s for each of them',
    (escape) => {
      const limits = { depth: 4, values: 10 };
      expect(parseBounded(Buffer.from(`"${escape.repeat(160)}"`), limits).state).toBe('parsed');
      expect(parseBounded(Buffer.from(`"${escape.repeat(161)}"`), limits)).toEqual({
        state: 'excess',
        limit: 'escapes',
      });
      expect(parseBounded(Buffer.from(`["${escape.repeat(100)}","${escape.repeat(100)}"]`), limits)).toEqual({
        state: 'excess',
        limit: 'escapes',
      });
    },
  );
});

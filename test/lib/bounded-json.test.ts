import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countMembers,
  DEFAULT_JSON_LIMITS,
  describeExcess,
  exceededLimit,
  type JsonExcess,
  parseBounded,
  parsedValue,
} from '../../src/lib/bounded-json.ts';

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

  // With ten values allowed, the number itself and nine more for every 64 of its digits.
  it.each([
    ['digits alone', (count: number) => '9'.repeat(count), 639],
    ['digits in an array', (count: number) => `[${'9'.repeat(count)}]`, 575],
    ['digits as an element', (count: number) => `[1,${'9'.repeat(count)}]`, 511],
    ['digits as a member', (count: number) => `{"a":${'9'.repeat(count)}}`, 575],
    ['white space before the end', (count: number) => `[]${' '.repeat(count)}`, 575],
    ['white space before a name', (count: number) => `{${' '.repeat(count)}"a":1}`, 575],
    ['white space before a colon', (count: number) => `{"a"${' '.repeat(count)}:1}`, 575],
  ])('admit exactly so many %s that every 64 of them count as a value', (_what, text, most) => {
    expect(parse(text(most)).state).toBe('parsed');
    expect(parse(text(most + 1))).toEqual({ state: 'excess', limit: 'values' });
  });

  it('count the depth at each place, not in total', () => {
    expect(parse('[[[[]]],[[[]]]]').state).toBe('parsed');
    expect(parse('[{},{},[[[]]]]').state).toBe('parsed');
  });

  /*
   * The attack: a long string, whose end is searched for instead of being read byte by byte, hides what follows it. Or
   * a quote that does not end it makes its contents look like structure.
   */
  const long = 'x'.repeat(60);
  it.each([
    ['a long string', `"${long}"`],
    ['a long string that ends with a backslash', `"${long}\\\\"`],
    ['a long string with an escaped quote', `"${long}\\"${long}"`],
    ['two long strings', `"${long}","${long}"`],
  ])('apply to what follows %s', (_what, text) => {
    expect(parse(`[${text},${nested(4)}]`)).toEqual({ state: 'excess', limit: 'depth' });
    expect(parse(`[${text},${nested(3)}]`).state).toBe('parsed');
  });

  it.each([1, 3, 5])('ignore what follows a quote in a long string after %i backslashes', (count) => {
    const text = `"${long}${'\\'.repeat(count)}"${'[{,'.repeat(20)}"`;
    expect(parse(`{"a":${text}}`)).toMatchObject({ state: 'parsed', members: 1 });
  });

  it('apply to a text that is not parsed, too', () => {
    expect(exceededLimit(Buffer.from(nested(5)), LIMITS)).toBe('depth');
    expect(exceededLimit(Buffer.from(nested(4)), LIMITS)).toBeUndefined();
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

  it.each(['\u1EFF{}', '\uFE3F{}', '\uFEC0{}', '\u{FEFF}\uFEFF{}'])(
    'may not begin with a part of that mark: %j',
    (text) => {
      expect(parse(text)).toEqual({ state: 'malformed' });
    },
  );

  it.each(['[]', '{}', '"a"', '0', '-1', 'true', 'false', 'null', ' 1', '\t1', '\r1', '\n1'])('may be %j', (text) => {
    expect(parse(text)).toMatchObject({ state: 'parsed', value: JSON.parse(text) as unknown });
  });

  it('has a value only if it could be parsed', () => {
    expect(parsedValue(parse('{"a":1}'))).toEqual({ a: 1 });
    for (const text of ['{', nested(5)]) expect(parsedValue(parse(text))).toBeUndefined();
  });

  // The default limits must not refuse the largest documented pages.
  it('may have 250,000 values at 64 levels by default', () => {
    const list = (count: number) => Buffer.from(`[${Array(count).fill('1').join()}]`);
    expect(exceededLimit(list(249_999), DEFAULT_JSON_LIMITS)).toBeUndefined();
    expect(exceededLimit(list(250_000), DEFAULT_JSON_LIMITS)).toBe('values');
    expect(exceededLimit(Buffer.from(nested(64)), DEFAULT_JSON_LIMITS)).toBeUndefined();
    expect(exceededLimit(Buffer.from(nested(65)), DEFAULT_JSON_LIMITS)).toBe('depth');
  });

  it('has no members except those of its objects', () => {
    for (const value of [null, 'text', 1, [1, [null]]]) expect(countMembers(value)).toBe(0);
    expect(countMembers([{ a: [{ b: 1 }], c: {} }, { d: null }])).toBe(4);
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

  // They cost no more time than plain characters, and longer texts contain many.
  it('has no limit if they are more than 24 bytes apart', () => {
    const apart = (bytes: number) => `"${`${'x'.repeat(bytes)}\\n`.repeat(200)}"`;
    expect(parse(apart(24)).state).toBe('parsed');
    expect(parse(apart(23))).toEqual({ state: 'excess', limit: 'escapes' });
  });
});

import { describe, expect, it } from 'vitest';
import { SCHEMA_BASE } from '../../../src/engine/contract/contract-files.ts';
import { DEFAULT_JSON_LIMITS, type JsonLimits } from '../../../src/lib/bounded-json.ts';
import type { SchemaOrBoolean } from '../../../src/engine/contract/openapi-document.ts';
import { openScanner } from '../../../src/engine/scanner/open-scanner.ts';
import { type CompareBody, createCompareBody, readExamples } from '../../../tools/scanner/compare-body.ts';
import { fuzzScanner } from '../../../tools/scanner/fuzz-scanner.ts';
import { propertyRuns } from '../../builders/property-runs.ts';

const FILE = 'resources/tested.schema.json';

/** Creates a function that compares the scanner's results for a schema with those of the parser and the validator. */
function comparisonFor(schema: SchemaOrBoolean, excerpt: readonly string[] = [], limits?: JsonLimits): CompareBody {
  const own = typeof schema === 'object' ? schema : { allOf: [schema] };
  return createCompareBody(new Map([[FILE, { $id: SCHEMA_BASE + FILE, ...own }]]), FILE, excerpt, limits);
}

const compare = (schema: SchemaOrBoolean, text: string) => comparisonFor(schema)(Buffer.from(text));

/**
 * A schema and three groups of documents: those that the schema accepts and the scanner proves valid, those that the
 * schema rejects, and those that the schema accepts but the scanner cannot prove valid.
 */
interface Case {
  readonly schema: SchemaOrBoolean;
  readonly valid?: readonly string[];
  readonly invalid?: readonly string[];
  readonly closer?: readonly string[];
}

const DATE = String.raw`^\d{2}/\d{2}/\d{4} \d{2}:\d{2} (AM|PM)$`;
const ZONE = '^[A-Z][a-z]{2} [^ ]{1,4} x$';
const pair = { type: 'object', required: ['a'], properties: { a: { type: 'integer' }, b: { type: 'string' } } };

const hoping = {
  ...pair,
  'x-expected': ['b', 'c'],
  properties: { ...pair.properties, c: { type: 'string', 'x-expected-pattern': '^[a-z]$' } },
};

const CASES: Readonly<Record<string, readonly Case[]>> = {
  type: [
    {
      schema: { type: 'string' },
      valid: ['"x"', '""', '"\\u0061"', '"é"'],
      invalid: ['1', 'null', '{}', '[]', 'true'],
    },
    { schema: { type: 'boolean' }, valid: ['true', 'false'], invalid: ['"true"', '0', 'null'] },
    { schema: { type: 'integer' }, valid: ['0', '-1', '-0'], invalid: ['1.5', '"1"', '1e400'], closer: ['1.0', '1e2'] },
    {
      schema: { type: 'number' },
      valid: ['0', '1.5', '1e99', '-0.0', '1e-99'],
      invalid: ['"1"', '1e400'],
      closer: ['1e100'],
    },
    { schema: { type: 'null' }, valid: ['null'], invalid: ['0', '""', 'nul', 'nulll'] },
    { schema: { type: ['integer', 'null'] }, valid: ['1', 'null'], invalid: ['"1"', 'true'] },
    { schema: { type: 'object' }, valid: ['{}', '{"a":{"a":1}}'], invalid: ['[]'] },
    { schema: { type: 'array' }, valid: ['[]', '[1,"a",{}]'], invalid: ['{}'] },
    { schema: true, valid: ['1', '"a"', '[{"a":[null]},1e999]'], invalid: ['', 'x', '1 2'] },
    { schema: false, invalid: ['1', '{}'] },
  ],
  numbers: [
    { schema: { type: 'integer', minimum: 0 }, valid: ['0', '-0', '9'], invalid: ['-1'] },
    { schema: { type: 'integer', maximum: 100 }, valid: ['100'], invalid: ['101', '18446744073709551615'] },
    // Numbers near the limits of 64-bit integers are rounded to doubles, both in the contract and in the body.
    {
      schema: { type: 'integer', minimum: -(2 ** 63), maximum: 2 ** 63 },
      valid: ['9223372036854775807', '9223372036854775808', '-9223372036854775808', '9007199254740993'],
      invalid: ['9223372036854779999', '99999999999999999999', '1e30'],
    },
    { schema: { type: 'number', minimum: 0 }, valid: ['1'], invalid: ['-1.5'], closer: ['1.5'] },
    { schema: { type: 'integer' }, closer: ['99999999999999999999'] },
  ],
  strings: [
    {
      schema: { type: 'string', maxLength: 2 },
      valid: ['"ab"', '"éé"', '"\u{1f600}b"'],
      invalid: ['"abc"'],
      closer: ['"\\u0061"'],
    },
    {
      schema: { type: 'string', minLength: 2 },
      valid: ['"ab"', '"éé"'],
      invalid: ['"a"', '"\u{1f600}"'],
      closer: ['"\\n\\n"'],
    },
    {
      schema: { type: 'string', enum: ['a', 'é', ''] },
      valid: ['"a"', '"é"', '""'],
      invalid: ['"b"', '"ab"'],
      closer: ['"\\u0061"'],
    },
    { schema: { enum: ['a', null, true] }, valid: ['"a"', 'null', 'true'], invalid: ['"b"', 'false', '1', '{}'] },
    { schema: { type: 'string', const: 'user' }, valid: ['"user"'], invalid: ['"use"', '"userx"', '"usér"'] },
    { schema: { enum: ['abc', 'a'], maxLength: 1 }, valid: ['"a"'], invalid: ['"abc"'] },
    { schema: { allOf: [{ enum: ['a', 'b'] }, { enum: ['b', 'c'] }] }, valid: ['"b"'], invalid: ['"a"', '"c"'] },
    {
      schema: { type: 'string', pattern: DATE },
      valid: ['"11/14/2023 10:13 PM"'],
      invalid: ['"11/14/2023 10:13 pm"', '"11/14/2023 10:13 PM "', '" 11/14/2023 10:13 PM"', '""', '"11/14/2023"'],
      closer: [String.raw`"11\/14\/2023 10:13 PM"`],
    },
    {
      schema: { type: 'string', pattern: ZONE },
      valid: ['"Mon CET x"', '"Mon é\u{1f600} x"'],
      invalid: ['"Mon  x"', '"Mon ééééé x"'],
    },
  ],
  objects: [
    {
      schema: pair,
      valid: ['{"a":1}', '{"b":"x","a":1}', '{"a":1,"c":[2]}'],
      invalid: ['{}', '{"b":"x"}', '{"a":"1"}'],
    },
    // Any name can be written with escape sequences.
    { schema: pair, closer: [String.raw`{"\u0061":1}`, String.raw`{"a":1,"\n":2}`] },
    { schema: true, closer: [String.raw`{"\u0061":1}`] },
    // If a name is repeated, the parser uses the last member, but another parser may use the first.
    {
      schema: pair,
      closer: ['{"a":1,"a":2}', '{"a":1,"b":"x","b":"y"}', '{"a":1,"c":1,"c":2}', '{"a":1,"c":{"x":1,"y":2,"x":3}}'],
    },
    { schema: pair, closer: ['{"a":1,"__proto__":{"a":2}}'] },
    { schema: { ...pair, additionalProperties: false }, valid: ['{"a":1}'], invalid: ['{"a":1,"c":2}'] },
    { schema: { ...pair, additionalProperties: true }, valid: ['{"a":1,"c":2}'], closer: ['{"a":1,"c":2,"c":2}'] },
    { schema: { properties: { a: { not: {} } } }, valid: ['{}', '{"b":1}', '1'], invalid: ['{"a":1}'] },
    { schema: { properties: { a: true, b: false } }, valid: ['{"a":1}'], invalid: ['{"b":1}'] },
    { schema: { properties: { '': { type: 'string' } } }, valid: ['{"":"x"}'], invalid: ['{"":1}'] },
    {
      schema: { properties: { 'longer than eight': { type: 'null' } } },
      valid: ['{"longer than eight":null}'],
      invalid: ['{"longer than eight":1}'],
    },
  ],
  // Unmet expectations are also compared.
  expectations: [
    {
      schema: hoping,
      valid: ['{"a":1,"b":"x","c":"c"}', '{"a":1,"b":"x"}', '{"a":1}', '{"c":"cc","a":1}', '{"c":"é","a":1,"d":2}'],
      invalid: ['{"b":"x","c":"c"}', '{}', '{"a":1,"c":1}'],
      closer: [String.raw`{"a":1,"c":"\u0061"}`],
    },
    {
      schema: { type: 'array', items: { type: 'object', properties: { in: { type: 'array', items: hoping } } } },
      valid: ['[{"in":[{"a":1,"b":"x","c":"c"},{"a":1,"c":"cc"}]},{},{"in":[{"a":1},{"a":2,"c":"dd","b":"x"}]}]'],
      invalid: ['[{"in":[{"a":1},{}]}]'],
    },
    {
      schema: { type: ['string', 'null'], 'x-expected-enum': ['a', 'é'] },
      valid: ['"a"', '"é"', '"b"', '""', 'null'],
      invalid: ['1'],
      closer: ['"\\u0061"'],
    },
    // Expecting a field that is required anyway has no effect.
    { schema: { ...pair, 'x-expected': ['a'] }, valid: ['{"a":1}'], invalid: ['{}'] },
  ],
  arrays: [
    {
      schema: { type: 'array', items: { type: 'integer' } },
      valid: ['[]', '[ 1 , 2 ]'],
      invalid: ['[1,"2"]', '[1,]', '[,1]', '[1 2]'],
    },
    { schema: { type: 'array', maxItems: 0 }, valid: ['[]', '[ ]'], invalid: ['[1]'] },
    {
      schema: { minItems: 1, maxItems: 2, items: { type: 'null' } },
      valid: ['[null]', '1'],
      invalid: ['[]', '[null,null,null]'],
    },
    { schema: { type: 'array', items: { type: 'array', items: pair } }, valid: ['[[{"a":1}]]'], invalid: ['[[{}]]'] },
  ],
  combinations: [
    {
      schema: { allOf: [pair, { required: ['b'], properties: { b: { maxLength: 1 } } }] },
      valid: ['{"a":1,"b":"x"}'],
      invalid: ['{"a":1}', '{"a":1,"b":"xx"}'],
    },
    { schema: { anyOf: [{ type: 'null' }, pair] }, valid: ['null', '{"a":1}'], invalid: ['{}', '1'] },
    {
      schema: {
        oneOf: [
          { type: 'string', maxLength: 1 },
          { type: 'integer', minimum: 5 },
        ],
      },
      valid: ['"a"', '5'],
      invalid: ['"aa"', '4', 'null'],
    },
    {
      schema: { allOf: [{ anyOf: [{ type: 'null' }, { type: 'string' }] }, { type: 'string' }] },
      valid: ['"a"'],
      invalid: ['null'],
    },
  ],
};

describe('the scanner', () => {
  it.each(Object.entries(CASES))('agrees with the validator about %s', (_name, cases) => {
    const found = cases.map(({ schema, valid = [], invalid = [], closer = [] }) => ({
      schema,
      valid: valid.filter((text) => compare(schema, text) === 'both valid'),
      invalid: invalid.filter((text) => compare(schema, text) === 'both invalid'),
      closer: closer.filter((text) => compare(schema, text) === 'closer'),
    }));
    expect(found).toEqual(
      cases.map(({ valid = [], invalid = [], closer = [], ...rest }) => ({ ...rest, valid, invalid, closer })),
    );
  });

  it.each([
    ['the keyword multipleOf', { multipleOf: 2 }],
    ['the keyword uniqueItems', { uniqueItems: true }],
    ['the keyword not', { not: { type: 'null' } }],
    ['the keyword patternProperties', { patternProperties: { a: true } }],
    ['additionalProperties', { additionalProperties: { type: 'null' } }],
    [
      'additionalProperties beside other schemas',
      { allOf: [pair], properties: { c: true }, additionalProperties: false },
    ],
    ['alternatives for values of the same kind', { oneOf: [{ maxLength: 1 }, { minLength: 3 }] }],
    ['two patterns', { allOf: [{ pattern: '^a' }, { pattern: 'b$' }] }],
    ['a number among the allowed values', { enum: [1] }],
    ['required members without a schema', { required: ['a'], properties: { b: true } }],
    ['required members without a schema', { 'x-expected': ['a'], properties: { b: true } }],
    ['two expected forms', { 'x-expected-pattern': '^a', 'x-expected-enum': ['a'] }],
    ['an expected form with other rules for strings', { 'x-expected-pattern': '^a', maxLength: 3 }],
    ['a schema that contains itself', { properties: { a: { $ref: 'tested.schema.json' } } }],
    ['the reference none.json', { $ref: 'none.json' }],
    ['the name "a\\nb"', { properties: { 'a\nb': true } }],
    ['the name "a:/b"', { properties: { 'a:/b': true } }],
  ])('does not support %s', (reason, schema) => {
    const own = schema as SchemaOrBoolean;
    const source = { schemas: new Map([[FILE, own]]), schema: { schema: own, path: FILE }, excerpt: [] };
    expect(() => openScanner(DEFAULT_JSON_LIMITS).compile(source)).toThrow(reason);
  });

  it.each(
    [
      [
        '',
        ' ',
        '{',
        '}',
        '[',
        ']',
        '"',
        '"a',
        '{"a"',
        '{"a":',
        '{"a":1',
        '{"a":1,',
        '{"a":1,}',
        '{,}',
        '{a:1}',
        "{'a':1}",
      ],
      [
        '[1',
        '[1,',
        '1 1',
        '01',
        '-',
        '+1',
        '1.',
        '.1',
        '1e',
        '1e+',
        '0x1',
        'NaN',
        'Infinity',
        'undefined',
        'tru',
        'True',
      ],
      [
        '"\t"',
        '"\n"',
        '"\\x"',
        '"\\u00"',
        '"\\u00g0"',
        '"\\',
        '{"a":1}}',
        '[]]',
        '[1]x',
        '// a',
        '{"a":1 "b":2}',
        '{"a" 1}',
      ],
      [
        '\u00a01',
        '\ufeff\ufeff1',
        '1\u0000',
        '\u00001',
        '"\u0000"',
        '[\v1]',
        '[\f1]',
        '\u20281',
        '{"a"::1}',
        '{"a":1,,"b":2}',
      ],
    ].flat(),
  )('does not accept the malformed text %j', (text) => {
    expect(compare(true, text)).toBe('both invalid');
    expect(compare(pair, text)).toBe('both invalid');
  });

  it.each([
    ' 1 ',
    '\t\r\n {"a" :\t1\r\n,"b"\n: "x" } \n',
    '"\u007f\u2028"',
    '[ ]',
    '{ }',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\uD800"',
    '[1E+2,1e-2,-0.5]',
  ])('accepts the text %j', (text) => {
    expect(compare(true, text)).toBe('both valid');
  });

  it('accepts white space of every length, and no other byte in it', () => {
    const comparePair = comparisonFor(pair);
    const result = (text: string) => comparePair(Buffer.from(text));
    for (let length = 0; length < 40; length += 1) {
      const space = Array.from({ length }, (_, index) => ' \n\t\r'[index % 4]).join('');
      expect(result(`${space}{${space}"a"${space}:${space}1${space}}${space}`)).toBe('both valid');
      for (const other of ['\v', '\f', '\u0000', '\u001f', '\u00a0', '!', '-'])
        expect(result(`{"a":${space}${other}${space}1}`)).toBe(
          other === '-' && length === 0 ? 'both valid' : 'both invalid',
        );
    }
  });

  it('accepts no body that ends early', () => {
    const { schemas, responses } = readExamples();
    const { file, bodies } = responses.find(({ operation }) => operation === 'listQuestions') ?? {
      file: '',
      bodies: [],
    };
    const compareBody = createCompareBody(schemas, file, ['/list/*/id']);
    const body = Buffer.from(JSON.stringify(bodies[0]));
    expect(compareBody(body)).toBe('both valid');
    const accepted = Array.from(body.keys()).filter((end) => compareBody(body.subarray(0, end)) !== 'both invalid');
    expect(accepted).toEqual([]);
  });

  it('does not see bytes of an earlier, longer body', () => {
    const compareBody = comparisonFor({ type: 'array' });
    expect(compareBody(Buffer.from('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]'))).toBe('both valid');
    for (const text of ['[1,2', '[1,2,', '[', '["']) expect(compareBody(Buffer.from(text))).toBe('both invalid');
    const compareNumber = comparisonFor({ type: 'integer' });
    for (const text of ['12345678', '12', '1']) expect(compareNumber(Buffer.from(text))).toBe('both valid');
  });

  // A lenient parser replaces these bytes, which can make two different names equal. A filter in front of the parser
  // and the client behind it may then see different names.
  it.each([
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a code point above U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['a lone continuation byte', [0x80]],
    ['an incomplete character', [0xe2, 0x82]],
    ['a byte that UTF-8 never has', [0xff]],
  ])('accepts no string with %s, and neither does the parser', (_name, bytes) => {
    const body = Buffer.concat([Buffer.from('{"a":1,"b":"x'), Buffer.from(bytes), Buffer.from('"}')]);
    expect(comparisonFor(pair)(body)).toBe('both invalid');
  });

  it('looks closer at nesting that is deeper than the limit', () => {
    const nested = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    expect(comparisonFor(true)(nested(60))).toBe('both valid');
    expect(comparisonFor(true)(nested(61))).toBe('closer');
    expect(comparisonFor(true)(nested(65))).toBe('both invalid');
    // Deep nesting must not exhaust the module's stack.
    expect(comparisonFor(true)(nested(500_000))).toBe('both invalid');
    expect(comparisonFor({ type: 'array' }, [], { depth: 2, values: 100 })(nested(3))).toBe('both invalid');
    const list = { type: 'array', items: { type: 'array', items: { type: 'integer' } } };
    const object = { type: 'object', properties: { a: { type: 'object', properties: { a: { type: 'integer' } } } } };
    for (const [depth, result] of [
      [2, 'both valid'],
      [1, 'both invalid'],
    ] as const) {
      expect(comparisonFor(list, [], { depth, values: 100 })(Buffer.from('[[1]]'))).toBe(result);
      expect(comparisonFor(object, [], { depth, values: 100 })(Buffer.from('{"a":{"a":1}}'))).toBe(result);
    }
  });

  it('looks closer at more values than the limit', () => {
    const limits = { depth: 64, values: 100 };
    const list = (count: number) => Buffer.from(JSON.stringify(Array.from({ length: count }, () => 1)));
    expect(comparisonFor(true, [], limits)(list(90))).toBe('both valid');
    expect(comparisonFor({ type: 'array', items: { type: 'integer' } }, [], limits)(list(101))).toBe('both invalid');
    expect(comparisonFor(true, [], limits)(list(101))).toBe('both invalid');
    // A long run of white space counts toward the limit on values.
    const spaced = Buffer.from(`[${'1,'.repeat(60)}${' '.repeat(2900)}1]`);
    expect(comparisonFor(true, [], limits)(spaced)).toBe('both invalid');
    expect(comparisonFor(true, [], { ...limits, values: 200 })(spaced)).toBe('both valid');
  });

  it('accepts large bodies, and looks closer at still larger ones', () => {
    const compareBody = comparisonFor({ type: 'array', items: { type: 'string' } }, ['/*']);
    const strings = (size: number) => Buffer.from(JSON.stringify(['a', 'b'].map((letter) => letter.repeat(size))));
    expect(compareBody(strings(300_000))).toBe('both valid');
    expect(compareBody(strings(10))).toBe('both valid');
    expect(compareBody(strings(1_000_000))).toBe('closer');
  });

  it('finds the undocumented members that the validator finds, in the same order', () => {
    const item = {
      type: 'object',
      properties: { id: { type: 'integer' }, by: pair, tags: { type: 'array', items: pair } },
    };
    const compareBody = comparisonFor({
      type: 'object',
      properties: { list: { type: 'array', items: item }, open: {} },
    });
    const by = { y: { deep: [1] }, a: 1 };
    const list = [
      { id: 1, by },
      { x: null, by, tags: [{ a: 1 }, { a: 2, 'no name': 'é' }] },
      { x: 2, 7: 1.5 },
    ];
    expect(compareBody(Buffer.from(JSON.stringify({ z: 'a', list, open: { x: 1 } })))).toBe('both valid');
  });

  describe('reading the differences of one body after those of another', () => {
    const item = {
      type: 'object',
      properties: {
        a: { type: 'integer' },
        b: { type: 'string', 'x-expected-enum': ['x'] },
        c: { type: 'string', 'x-expected-enum': ['x'] },
        in: pair,
      },
      'x-expected': ['a'],
    };
    const schema = { type: 'object', properties: { list: { type: 'array', items: item }, open: pair } };
    // Each body differs from the first in a way that the reported differences must show.
    const bodies = [
      '{"list":[{"a":1,"x":5}]}',
      '{"list":[{"a":1},{"a":1,"x":5}]}',
      '{"list":[{"a":1,"y":5}]}',
      '{"list":[{"a":1,"x":5.5}]}',
      '{"list":[{"a":1,"x":"5"}]}',
      '{"list":[{"a":1,"x":"55"}]}',
      '{"list":[{"a":1,"x":[5]}]}',
      '{"list":[{"a":1,"x":{"y":5}}]}',
      '{"list":[{"a":1,"x":null}]}',
      '{"list":[{"a":1,"x":-}]}',
      // The parser reads this number as infinity, which is not an integer.
      `{"list":[{"a":1,"x":1${'0'.repeat(400)}}]}`,
      '{"list":[{"a":1,"x":5,"y":5}]}',
      '{"list":[{"a":1,"in":{"a":1,"x":5}}]}',
      '{"open":{"a":1,"x":5}}',
      '{"list":[{"x":5}]}',
      '{"list":[{"a":1},{"x":5}]}',
      '{"list":[{"a":1,"b":"y"}]}',
      '{"list":[{"a":1,"b":"yy"}]}',
      '{"list":[{"a":1,"c":"y"}]}',
      '{"list":[{"a":1,"b":"x"}]}',
      '{"list":[{"a":1,"é":5}]}',
      '{"list":[{"a":1,"Ã©":5}]}',
    ].map((text) => Buffer.from(text));

    it('finds what the validator finds', () => {
      const compareBody = comparisonFor(schema);
      for (const first of bodies)
        for (const second of bodies)
          expect([compareBody(first), compareBody(second)].join()).toMatch(/^(both (in)?valid,?|closer,?){2}$/);
    });

    it('returns the same object if only integers and documented values differ', () => {
      const { scan } = openScanner(DEFAULT_JSON_LIMITS).compile({
        schemas: new Map<string, SchemaOrBoolean>(),
        schema: { schema, path: FILE },
        excerpt: [],
      });
      const differences = (text: string) => scan(Buffer.from(text))?.differences;
      const first = differences('{"list":[{"a":1,"x":5},{}]}');
      expect(first).toEqual({
        undocumented: { list: [{ x: 5 }] },
        departures: [{ path: ['list', 1, 'a'], text: undefined }],
      });
      expect(differences('{"list":[{"a":2,"x":-60},{}]}')).toBe(first);
      expect(differences('{"list":[{"a":2,"x":6.5},{}]}')).not.toBe(first);
    });
  });

  it('looks closer at objects with very many undocumented members', () => {
    const members = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${index}`, 1]));
    const body = (count: number) => Buffer.from(JSON.stringify({ ...members(count), a: 1 }));
    expect(comparisonFor(pair)(body(64))).toBe('both valid');
    expect(comparisonFor(pair)(body(65))).toBe('closer');
    expect(comparisonFor(true)(body(60))).toBe('both valid');
    expect(comparisonFor(true)(body(65))).toBe('closer');
  });

  it('looks closer at nested open objects with very many names, and writes nothing past the list of them', () => {
    const members = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`name${index}`, 1]));
    const nested = (depth: number): object => (depth === 0 ? {} : { ...members, nested: nested(depth - 1) });
    const compareBody = comparisonFor({ type: 'object', properties: { a: { type: 'integer' }, b: {} } }, ['/a']);
    const body = (depth: number) => Buffer.from(JSON.stringify({ a: 1, b: nested(depth) }));
    expect(compareBody(body(10))).toBe('both valid');
    expect(compareBody(body(40))).toBe('closer');
  });

  // The search in a parsed body stops after 2000 undocumented members, so it would miss any members after these.
  it('looks closer at more undocumented members than the search examines', () => {
    const compareBody = comparisonFor({ type: 'array', items: pair });
    const list = (count: number) => [...Array.from({ length: count }, () => ({ a: 1, x: 1, y: 1 })), { a: 1, z: 1 }];
    expect(compareBody(Buffer.from(JSON.stringify(list(800))))).toBe('both valid');
    expect(compareBody(Buffer.from(JSON.stringify(list(1_100))))).toBe('closer');
  });

  it('reads a string that differs from the previous one in a single byte, or only in its length', () => {
    const schema = { type: 'object', properties: { list: { type: 'array', items: { type: 'string' } } } } as const;
    const { scan } = openScanner(DEFAULT_JSON_LIMITS).compile({
      schemas: new Map<string, SchemaOrBoolean>(),
      schema: { schema, path: FILE },
      excerpt: ['/list/*'],
    });
    const long = 'x'.repeat(40);
    const list = [
      '',
      'idea',
      'idea',
      'ideb',
      'jdeb',
      'ideas',
      '',
      'ü',
      'ö',
      long,
      long,
      `${long.slice(0, -1)}y`,
      'idea',
    ];
    expect(scan(Buffer.from(JSON.stringify({ list })))?.excerpt).toEqual({ list });
  });

  it('reads an excerpt of the members that are asked for', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: ['string', 'null'] }, n: { type: 'integer' }, list: { type: 'array', items: pair } },
    };
    const source = { schemas: new Map<string, SchemaOrBoolean>(), schema: { schema, path: FILE } };
    const { scan } = openScanner(DEFAULT_JSON_LIMITS).compile({
      ...source,
      excerpt: ['/a', '/n', '/list/*/b', '/error'],
    });
    const excerpt = (text: string) => scan(Buffer.from(text))?.excerpt;
    expect(excerpt('{"a":"\\u00e9é\\n","n":-5,"list":[{"a":1},{"a":1,"b":"ü"}]}')).toEqual({
      a: 'éé\n',
      n: -5,
      list: [{}, { b: 'ü' }],
    });
    expect(excerpt('{"a":null,"list":[]}')).toEqual({ a: null, list: [] });
    // No schema describes this member, so the scan cannot prove that the body is valid.
    expect(excerpt('{"error":1}')).toBeUndefined();
  });

  // Bodies are stored after the tables, so tables compiled later overwrite parts of earlier bodies. An attacker could
  // send a body that exploits this.
  it('compiles tables after bodies were scanned', () => {
    const module = openScanner(DEFAULT_JSON_LIMITS);
    const compile = (schema: SchemaOrBoolean) =>
      module.compile({ schemas: new Map<string, SchemaOrBoolean>(), schema: { schema, path: FILE }, excerpt: [] });
    const first = compile({ type: 'string' });
    expect(first.scan(Buffer.from(`"${'x'.repeat(100_000)}"`))).toBeDefined();
    const later = compile(pair);
    expect(later.scan(Buffer.from('{"a":1,"b":"x","c":[2]}'))).toBeDefined();
    expect(later.scan(Buffer.from('{"a":"1"}'))).toBeUndefined();
    expect(first.scan(Buffer.from('"x"'))).toBeDefined();
  });

  // Only bodies with an absolute address are searched for the legacy server's addresses. An address missed by the scan
  // would be forwarded.
  it('finds an absolute address at every place', () => {
    const { scan } = openScanner(DEFAULT_JSON_LIMITS).compile({
      schemas: new Map<string, SchemaOrBoolean>(),
      schema: { schema: pair, path: FILE },
      excerpt: [],
    });
    const hasAddress = (text: string) => scan(Buffer.from(text))?.hasAddress;
    for (const address of ['http://legacy', String.raw`http:\/\/legacy`, 'https://é'])
      for (let before = 0; before < 40; before += 1) {
        const text = 'x'.repeat(before) + address + 'y'.repeat(20);
        expect(hasAddress(`{"a":1,"b":"${text}"}`)).toBe(true);
        expect(hasAddress(`{"a":1,"b":"\\n${text}"}`)).toBe(true);
        expect(hasAddress(`{"a":1,"c":{"d":["${text}"]}}`)).toBe(true);
        // If a name contains an escape, the scanner never reports the body as valid.
        if (!text.includes('\\')) expect(hasAddress(`{"a":1,"${text}":null}`)).toBe(true);
      }
    // The result for one body must not affect the result for the next.
    expect(hasAddress('{"a":1,"b":"11:00 a/b // http:"}')).toBe(false);
  });

  // An excerpt written beyond the end of its area would overwrite the tables, which determine what is valid.
  it.each([
    ['numbers', { type: 'integer', minimum: 5 }, 100, 7],
    ['strings', { type: 'string', maxLength: 3 }, 'abc', 'a'],
    ['escapes', { type: 'string' }, '\n', 'a'],
    ['objects', { type: 'object', properties: { a: { type: 'null' } } }, { a: null }, {}],
    ['lengths', { type: 'array' }, [1, 2, 3], []],
  ])('looks closer at an excerpt with too many %s, and its tables survive', (_name, items, value, other) => {
    const compareBody = comparisonFor({ type: 'array', items }, ['/*'], { depth: 64, values: 1_000_000 });
    const list = (count: number, element: unknown) =>
      Buffer.from(JSON.stringify(Array.from({ length: count }, () => element)));
    for (const count of [16_381, 16_382, 16_383, 16_384, 20_000, 50_000])
      expect(compareBody(list(count, value))).toMatch(/^(both valid|closer)$/);
    expect(compareBody(list(50_000, value))).toBe('closer');
    expect(compareBody(list(1_000, other))).toBe('both valid');
  });

  it('supports all success responses of the contract', () => {
    const { schemas } = readExamples();
    const files = [...schemas.keys()].filter((file) => /^operations\/\w+\/response\.2/.test(file));
    const unsupported = files.flatMap((path) => {
      try {
        const schema = { schema: schemas.get(path) ?? true, path };
        openScanner(DEFAULT_JSON_LIMITS).compile({ schemas, schema, excerpt: [] });
        return [];
      } catch (error) {
        return [`${path}: ${String(error)}`];
      }
    });
    expect(unsupported).toEqual([]);
    expect(files.length).toBeGreaterThan(25);
  });

  it('never accepts a mutated body that the validator does not accept, and finds the same in the others', () => {
    const { wrong, valid, closer } = fuzzScanner({ count: propertyRuns(8_000), seed: 20_261_122 });
    expect(wrong.map(({ name, what, body }) => `${name} ${what} ${body.toString('latin1', 0, 500)}`)).toEqual([]);
    // These minimums ensure that the fuzzer has compared enough bodies.
    expect(valid).toBeGreaterThan(1_200);
    expect(closer).toBeGreaterThan(160);
  }, 180_000);
});

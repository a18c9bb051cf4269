import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { SCHEMA_BASE } from '../../../src/contract/contract-files.ts';
import { findErrors, type SchemaError } from '../../../src/contract/explain/find-errors.ts';
import type { SchemaObject, SchemaOrBoolean } from '../../../src/contract/openapi-document.ts';
import { createSeededRandom, type SeededRandom } from '../../../src/lib/seeded-random.ts';
import { generateSchemas } from '../../../src/contract/generate/generate-schemas.ts';
import { document } from '../sample.ts';

const EVERYTHING = { elements: Number.POSITIVE_INFINITY, errors: Number.POSITIVE_INFINITY };

const files = generateSchemas(document);

/** What Ajv tells when it goes on after errors, in the words of the search. */
function ajvOf(schemas: ReadonlyMap<string, SchemaObject>) {
  const options = { strict: true, allowUnionTypes: true, ownProperties: true, validateSchema: false, meta: false };
  const ajv = new Ajv2020({ ...options, allErrors: true, verbose: true, schemas: [...schemas.values()] });
  const places = new Map<unknown, string>();
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null) return;
    places.set(value, pointer);
    for (const [key, child] of Object.entries(value)) visit(child, `${pointer}/${escapeKey(key)}`);
  };
  for (const [file, schema] of schemas) visit(schema, `${file}#`);
  const toError = ({ keyword, instancePath, params, parentSchema, schema }: ErrorObject): SchemaError => {
    const missing = keyword === 'required' ? String(params['missingProperty']) : undefined;
    const at = missing === undefined ? instancePath : `${instancePath}/${escapeKey(missing)}`;
    return { keyword, at, schema: places.get(parentSchema) ?? '', limit: missing ?? schema };
  };
  return (file: string, value: unknown): SchemaError[] => {
    const validate = ajv.getSchema(SCHEMA_BASE + file);
    if (validate === undefined) throw new Error(`no schema ${file}`);
    return validate(value) === true ? [] : (validate.errors ?? []).map(toError);
  };
}

const short = (at: string, keyword: string, missing: unknown) =>
  `${keyword} ${at}${typeof missing === 'string' ? `/${escapeKey(missing)}` : ''}`;

const escapeKey = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');

const JUNK: readonly unknown[] = [null, true, false, '', 'text', -1, -0, 0, 1.5, 2 ** 60, [], {}, [[]], { a: 1 }];

/** A value that mostly keeps to a schema. */
function valueFor(random: SeededRandom, schema: SchemaOrBoolean, file: string): unknown {
  if (typeof schema === 'boolean' || random.chance(0.06)) return random.pick(JUNK);
  const of = (part: SchemaOrBoolean) => valueFor(random, part, file);
  if (schema.$ref !== undefined) {
    const target = new URL(schema.$ref, SCHEMA_BASE + file).href.slice(SCHEMA_BASE.length);
    return valueFor(random, files.get(target) ?? true, target);
  }
  if (schema.anyOf) return of(random.pick(schema.anyOf));
  if (Array.isArray(schema['enum'])) return random.pick(schema['enum'] as unknown[]);
  if (schema['const'] !== undefined) return schema['const'];
  const parts = (schema.allOf ?? []).map(of);
  const type = [schema.type ?? 'object'].flat().at(-1);
  if (type === 'array') return Array.from({ length: random.integer(0, 4) }, () => of(schema.items ?? true));
  if (type === 'string') return random.pick(['', 'x', '12', '2024-05-06', 'long '.repeat(60), '𝒳']);
  if (type === 'integer' || type === 'number') return random.pick([0, 1, 15, 99, 1e6, -3]);
  if (type === 'boolean') return random.chance(0.5);
  const own = Object.entries(schema.properties ?? {}).filter(() => random.chance(0.93));
  return Object.assign({}, ...parts, Object.fromEntries(own.map(([name, child]) => [name, of(child)])));
}

describe('the search for errors', () => {
  it('finds in every generated schema what Ajv finds, in its order and words', () => {
    const ajv = ajvOf(files);
    const random = createSeededRandom(7);
    const keywords = new Set<string>();
    for (const [file, schema] of files)
      for (let round = 0; round < 60; round++) {
        const value = valueFor(random, schema, file);
        const expected = ajv(file, value);
        expect(findErrors(files, file, value, EVERYTHING), `${file} ${JSON.stringify(value)}`).toEqual(expected);
        for (const { keyword } of expected) keywords.add(keyword);
      }
    const written = new Set([...files.values()].flatMap(keywordsIn));
    for (const keyword of ['type', 'required', 'not', 'enum', 'const', 'anyOf', 'pattern', 'minimum', 'maxLength'])
      expect(keywords, keyword).toContain(keyword);
    expect([...written].filter((keyword) => !KNOWN.has(keyword))).toEqual([]);
  });

  const cases: readonly [name: string, schema: SchemaObject, value: unknown][] = [
    ['a type after keywords of its own', { type: 'object', allOf: [{ type: 'string' }], required: ['a'] }, 1],
    ['a type before keywords of others', { type: 'string', enum: ['a'] }, 1],
    ['one of several types', { type: ['string', 'null'], minLength: 2 }, 1],
    ['numbers that are no integers', { type: 'integer', minimum: 0, maximum: 9 }, -1.5],
    ['the bounds of texts in characters', { type: 'string', minLength: 2, maxLength: 3 }, '𝒳'],
    ['the bounds of lists', { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string' } }, [1, 2, 'c']],
    [
      'names with slashes and tildes',
      { type: 'object', required: ['a/b'], properties: { 'c~d': { type: 'null' } } },
      { 'c~d': 1 },
    ],
    ['inherited names', { type: 'object', required: ['constructor'], properties: { toString: { type: 'null' } } }, {}],
    [
      'the branches of a choice',
      {
        anyOf: [
          { type: 'string', minLength: 3 },
          { type: 'array', items: { type: 'null' } },
        ],
      },
      [1],
    ],
    ['a choice inside a choice', { anyOf: [{ type: 'null' }, { anyOf: [{ type: 'string' }, { const: 2 }] }] }, true],
    ['a choice that is right', { anyOf: [{ type: 'null' }, { type: 'integer' }], type: 'integer', minimum: 3 }, 1],
    [
      'what must not be',
      { type: 'object', properties: { a: { not: {} }, b: { not: { type: 'string' } } } },
      { a: 1, b: 'x' },
    ],
    [
      'everything at once',
      { allOf: [{ type: 'string' }], anyOf: [{ type: 'null' }], not: {}, enum: [2], const: 3, minimum: 9 },
      1,
    ],
    ['bounds that are not reached', { type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 1, multipleOf: 2 }, 1],
    ['the number of fields', { type: 'object', minProperties: 2, maxProperties: 0 }, { a: 1 }],
    ['one of several that fit', { oneOf: [{ type: 'integer' }, { type: 'number' }] }, 1],
    ['further fields of a kind', { type: 'object', additionalProperties: { type: 'null' } }, { a: 1, b: null }],
    ['equal objects', { enum: [{ a: [1, { b: -0 }] }] }, { a: [1, { b: 1 }] }],
  ];
  it.each(cases)('finds what Ajv finds about %s', (_name, schema, value) => {
    const one = new Map([['one.json', { $id: `${SCHEMA_BASE}one.json`, ...schema }]]);
    const options = { strict: false, ownProperties: true, allErrors: true };
    const validate = new Ajv2020(options).compile(schema);
    validate(value);
    const told = (validate.errors ?? []).map((error) =>
      short(error.instancePath, error.keyword, (error.params as Record<string, unknown>)['missingProperty']),
    );
    expect(findErrors(one, 'one.json', value, EVERYTHING).map(({ at, keyword }) => `${keyword} ${at}`)).toEqual(told);
  });

  it.each([
    ['of its type', [{ type: 'string' }, { type: 'array', items: { type: 'null' } }], [1], ['type /0']],
    ['with more of its fields', [{ required: ['a', 'b'] }, { required: ['c'] }], { a: 1 }, ['anyOf ']],
    [
      'with all of its fields',
      [{ required: ['a'] }, { properties: { c: { type: 'null' } }, required: ['c'] }],
      { c: 1 },
      ['type /c'],
    ],
    ['that is one of two like it', [{ required: ['a'] }, { required: ['c'] }], {}, ['anyOf ']],
    ['of none', [{ type: 'string' }, { type: 'null' }], 1, ['anyOf ']],
  ] as readonly [string, SchemaObject[], unknown, string[]][])(
    'can tell only what is wrong with the alternative that was meant: the one %s',
    (_name, anyOf, value, told) => {
      const errors = findErrors(new Map([['one.json', { anyOf }]]), 'one.json', value, {
        ...EVERYTHING,
        meantOnly: true,
      });
      const named = errors.filter(({ keyword }) => keyword === 'anyOf');
      expect((named.length > 0 ? named : errors).map(({ at, keyword }) => `${keyword} ${at}`)).toEqual(told);
    },
  );

  it('names the fields that must not be there', () => {
    const one = new Map([['one.json', { type: 'object', properties: { a: {} }, additionalProperties: false }]]);
    expect(findErrors(one, 'one.json', { a: 1, b: 2 }, EVERYTHING)).toEqual([
      { keyword: 'additionalProperties', at: '/b', schema: 'one.json#', limit: 'b' },
    ]);
  });

  it('takes a zero below zero for zero', () => {
    const one = new Map([['one.json', { const: 0 }]]);
    expect(findErrors(one, 'one.json', -0, EVERYTHING)).toEqual([]);
  });

  it('looks at no more elements of each array, and for no more errors, than it may', () => {
    const one = new Map([['one.json', { items: { items: { type: 'null' } } }]]);
    const value = Array.from({ length: 10 }, () => Array.from({ length: 10 }, () => 1));
    const found = (elements: number, errors: number) => findErrors(one, 'one.json', value, { elements, errors }).length;
    expect([found(10, 1000), found(3, 1000), found(10, 7), found(10, 1)]).toEqual([100, 9, 7, 1]);
  });
});

const KNOWN = new Set(
  '$schema $id $comment title description default type $ref properties items required allOf anyOf not enum const pattern minimum maximum minLength maxLength minItems maxItems'.split(
    ' ',
  ),
);

/** The keywords of a schema and of all below it. */
function keywordsIn(schema: SchemaOrBoolean): string[] {
  if (typeof schema === 'boolean') return [];
  const { items = true, allOf = [], anyOf = [], properties = {} } = schema;
  const children = [items, ...allOf, ...anyOf, ...Object.values(properties), schema.not ?? true];
  return [...Object.keys(schema), ...children.flatMap(keywordsIn)];
}

// The attack: very many members that the contract forbids. Each made an error, though only so many are ever reported.
describe('a search for errors', () => {
  it('ends after the number of errors that are wanted', () => {
    let asked = 0;
    // Which members are known is asked for each one that is looked at.
    const properties = new Proxy<Record<string, SchemaOrBoolean>>(
      {},
      {
        getOwnPropertyDescriptor: () => {
          asked += 1;
          return undefined;
        },
      },
    );
    const members = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`a${at}`, at]));
    const closed = new Map<string, SchemaObject>([['a', { type: 'object', additionalProperties: false, properties }]]);
    expect(findErrors(closed, 'a', members, { elements: 25, errors: 10 })).toHaveLength(10);
    expect(asked).toBe(10);
  });

  it('counts the characters of a text no further than the limit says', () => {
    const of = (schema: SchemaObject, value: string) =>
      findErrors(new Map([['a', schema]]), 'a', value, EVERYTHING).map(({ keyword }) => keyword);
    expect(of({ type: 'string', maxLength: 2 }, '\u{1F600}\u{1F600}')).toEqual([]);
    expect(of({ type: 'string', maxLength: 2 }, '\u{1F600}\u{1F600}x')).toEqual(['maxLength']);
    expect(of({ type: 'string', minLength: 3 }, '\u{1F600}\u{1F600}')).toEqual(['minLength']);
    expect(of({ type: 'string', minLength: 2 }, '\u{1F600}\uD83D')).toEqual([]);
  });
});

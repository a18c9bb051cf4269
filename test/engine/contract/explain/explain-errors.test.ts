import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { SCHEMA_BASE } from '../../../../src/engine/contract/contract-files.ts';
import { openExplanations, type SchemaError } from '../../../../src/engine/contract/explain/explain-errors.ts';
import type { SchemaObject, SchemaOrBoolean } from '../../../../src/engine/contract/openapi-document.ts';
import { createSeededRandom, type SeededRandom } from '../../../../src/lib/seeded-random.ts';
import { EXPECTATIONS, generateSchemas } from '../../../../src/engine/contract/generate/generate-schemas.ts';
import { exampleOf } from '../../../builders/contract-examples.ts';
import { heldMemory } from '../../../builders/held-memory.ts';
import { document } from '../sample.ts';
import recorded from './recorded-errors.json' with { type: 'json' };

const files = generateSchemas(document);

const SETTINGS = {
  allowUnionTypes: true,
  ownProperties: true,
  validateSchema: false,
  meta: false,
  messages: false,
  keywords: [...EXPECTATIONS],
};

const explanationOf = openExplanations(files, { ...SETTINGS, strict: true, schemas: [...files.values()] });

/** Compiles an explanation for a single schema that does not refer to other schemas. */
const explanationOfOne = (schema: SchemaObject) =>
  openExplanations(new Map([['one.json', schema]]), { ...SETTINGS, strict: false })('one.json');

/**
 * Returns a function that reports Ajv's errors, including those from custom keywords, in the form of an explanation.
 */
function ajvOf(schemas: ReadonlyMap<string, SchemaObject>) {
  const options = { ...SETTINGS, messages: true, strict: true };
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

/** Generates a value that mostly matches a schema. */
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

describe('the explanation of errors', () => {
  it('contains the errors that Ajv reports for every generated schema, in the same order', () => {
    const ajv = ajvOf(files);
    const random = createSeededRandom(7);
    const keywords = new Set<string>();
    for (const [file, schema] of files) {
      const explain = explanationOf(file);
      for (let round = 0; round < 25; round++) {
        const value = valueFor(random, schema, file);
        const expected = ajv(file, value);
        for (const { keyword } of expected) keywords.add(keyword);
        if (expected.length === 0) continue;
        const explained = explain(value);
        const reported = expected.map(textOf);
        // If a value matches none of several alternatives, the explanation reports only the errors for the intended
        // alternative.
        const isChoice = expected.some(({ keyword }) => keyword === 'anyOf');
        const texts = explained.map(textOf).filter((text) => !isChoice || !reported.includes(text));
        expect(texts, `${file} ${JSON.stringify(value)}`).toEqual(isChoice ? [] : reported);
      }
    }
    const written = new Set([...files.values()].flatMap(keywordsIn));
    for (const keyword of ['type', 'required', 'not', 'enum', 'const', 'anyOf', 'pattern', 'minimum', 'maxLength'])
      expect(keywords, keyword).toContain(keyword);
    expect([...written].filter((keyword) => !KNOWN.has(keyword) && !EXPECTATIONS.includes(keyword))).toEqual([]);
  });

  // Ledgers and baselines identify violations by these messages. A change to the contract may change rows here, but a
  // change to the code must not.
  it('has the recorded places, keywords and limits', () => {
    const rows = recorded as readonly RecordedErrors[];
    const explained = rows.map(({ file, operation, copies, at, value }) => {
      const body = exampleOf(operation);
      if (copies !== undefined) Object.assign(body, { list: Array.from({ length: copies }, () => body.list[0]) });
      return { file, at, errors: explanationOf(file)(replaced(body, at, value)).map(textOf) };
    });
    expect(explained).toEqual(rows.map(({ file, at, errors }) => ({ file, at, errors })));
  });

  const cases: readonly [name: string, schema: SchemaObject, value: unknown][] = [
    ['a type after its own keywords', { type: 'object', allOf: [{ type: 'string' }], required: ['a'] }, 1],
    ['a type before other keywords', { type: 'string', enum: ['a'] }, 1],
    ['one of several types', { type: ['string', 'null'], minLength: 2 }, 1],
    ['numbers that are not integers', { type: 'integer', minimum: 0, maximum: 9 }, -1.5],
    ['the limits of texts in characters', { type: 'string', minLength: 2, maxLength: 3 }, '𝒳'],
    ['the limits of lists', { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string' } }, [1, 2, 'c']],
    [
      'names with slashes and tildes',
      { type: 'object', required: ['a/b'], properties: { 'c~d': { type: 'null' } } },
      { 'c~d': 1 },
    ],
    ['inherited names', { type: 'object', required: ['constructor'], properties: { toString: { type: 'null' } } }, {}],
    ['a valid choice', { anyOf: [{ type: 'null' }, { type: 'integer' }], type: 'integer', minimum: 3 }, 1],
    [
      'a forbidden value',
      { type: 'object', properties: { a: { not: {} }, b: { not: { type: 'string' } } } },
      { a: 1, b: 'x' },
    ],
    [
      'everything at once',
      { allOf: [{ type: 'string' }], anyOf: [{ type: 'null' }], not: {}, enum: [2], const: 3, minimum: 9 },
      1,
    ],
    ['limits that are not reached', { type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 1, multipleOf: 2 }, 1],
    ['the number of fields', { type: 'object', minProperties: 2, maxProperties: 0 }, { a: 1 }],
    ['one of several that fit', { oneOf: [{ type: 'integer' }, { type: 'number' }] }, 1],
    ['additional fields of one type', { type: 'object', additionalProperties: { type: 'null' } }, { a: 1, b: null }],
    ['equal objects', { enum: [{ a: [1, { b: -0 }] }] }, { a: [1, { b: 1 }] }],
  ];
  it.each(cases)('contains the errors that Ajv reports about %s', (_name, schema, value) => {
    const validate = new Ajv2020({ strict: false, ownProperties: true, allErrors: true }).compile(schema);
    if (validate(value)) return;
    const reported = (validate.errors ?? []).map((error) =>
      short(error.instancePath, error.keyword, (error.params as Record<string, unknown>)['missingProperty']),
    );
    expect(explanationOfOne(schema)(value).map(({ at, keyword }) => short(at, keyword, undefined))).toEqual(reported);
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
    [
      'of its type inside a choice',
      [{ type: 'null' }, { anyOf: [{ type: 'string' }, { const: 2 }] }],
      true,
      ['const '],
    ],
    ['that equals another one', [{ required: ['a'] }, { required: ['c'] }], {}, ['anyOf ']],
    ['of none', [{ type: 'string' }, { type: 'null' }], 1, ['anyOf ']],
  ] as readonly [string, SchemaObject[], unknown, string[]][])(
    'contains only the errors of the intended alternative: the one %s',
    (_name, anyOf, value, expected) => {
      const errors = explanationOfOne({ anyOf })(value);
      const named = errors.filter(({ keyword }) => keyword === 'anyOf');
      expect((named.length > 0 ? named : errors).map(({ at, keyword }) => `${keyword} ${at}`)).toEqual(expected);
    },
  );

  it('leaves the errors before a choice unchanged', () => {
    const explain = explanationOfOne({
      required: ['a'],
      properties: { a: { type: 'null' }, b: { anyOf: [{ type: 'null' }, { type: 'array', items: { type: 'null' } }] } },
      type: 'object',
    });
    expect(explain({ a: 1, b: [2] }).map(({ at }) => at)).toEqual(['/a', '/b/0']);
  });

  it('reports a choice of exactly one without the errors of its alternatives', () => {
    const explain = explanationOfOne({ oneOf: [{ type: 'null' }, { type: 'string' }] });
    expect(explain(1).map(({ keyword }) => keyword)).toEqual(['oneOf']);
  });

  it('names the forbidden fields', () => {
    const explain = explanationOfOne({ type: 'object', properties: { a: {} }, additionalProperties: false });
    expect(explain({ a: 1, b: 2 })).toEqual([
      { keyword: 'additionalProperties', at: '/b', schema: 'one.json#', limit: 'b' },
    ]);
  });

  // The attack: a field name that contains a person's email address would be stored in the ledger.
  it('does not repeat a name that may be personal', () => {
    const closed = explanationOfOne({ type: 'object', additionalProperties: false });
    expect(closed({ 'ann@example.com': 1 }).map(({ at }) => at)).toEqual(['/?']);
    const open = explanationOfOne({
      type: 'object',
      additionalProperties: { anyOf: [{ type: 'null' }, { items: { type: 'null' }, type: 'array' }] },
    });
    expect(open({ 'ann/x@example.com': [1], b: [2] }).map(({ at }) => at)).toEqual(['/?/0', '/b/0']);
  });

  it('examines the first elements of each array', () => {
    const explain = explanationOfOne({ items: { items: { type: 'null' } } });
    expect(explain(Array.from({ length: 60 }, () => Array.from({ length: 60 }, () => 1)))).toHaveLength(25 * 25);
  });

  it('contains the first error of the whole array if those elements are valid', () => {
    const explain = explanationOfOne({ items: { anyOf: [{ type: 'null' }, { type: 'array', maxItems: 30 }] } });
    const value = Array.from({ length: 60 }, (_, index) => (index < 40 ? Array.from({ length: 30 }, () => 1) : 'x'));
    expect(explain(value).map(({ at, keyword }) => `${keyword} ${at}`)).toEqual(['type /40']);
  });

  it('reports that something is wrong even if Ajv states no reason', () => {
    expect(explanationOfOne({ properties: { a: false } })({ a: 1 })).toEqual([
      { keyword: 'schema', at: '', schema: 'one.json#', limit: undefined },
    ]);
  });
});

/** Formats an error as one line. */
const textOf = ({ keyword, at, schema, limit }: SchemaError) => `${keyword} ${at} ${schema} ${JSON.stringify(limit)}`;

/**
 * The errors recorded for an operation's example after the value at one location is replaced (or removed if no new
 * value is given).
 */
interface RecordedErrors {
  readonly file: string;
  readonly operation: string;
  /** The number of copies of the first item in the list. */
  readonly copies?: number;
  readonly at: string;
  readonly value?: unknown;
  readonly errors: readonly string[];
}

function replaced(json: unknown, at: string, value: unknown): unknown {
  if (at === '') return value;
  const copy = structuredClone(json);
  const keys = at.split('/').slice(1);
  const last = keys.pop() ?? '';
  const parent = keys.reduce<Record<string, unknown>>(
    (node, key) => node[key] as Record<string, unknown>,
    copy as Record<string, unknown>,
  );
  if (value !== undefined) parent[last] = value;
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return copy;
}

const KNOWN = new Set(
  '$schema $id $comment title description default type $ref properties items required allOf anyOf not enum const pattern minimum maximum minLength maxLength minItems maxItems'.split(
    ' ',
  ),
);

/** Returns the keywords used in a schema and its subschemas. */
function keywordsIn(schema: SchemaOrBoolean): string[] {
  if (typeof schema === 'boolean') return [];
  const { items = true, allOf = [], anyOf = [], properties = {} } = schema;
  const children = [items, ...allOf, ...anyOf, ...Object.values(properties), schema.not ?? true];
  return [...Object.keys(schema), ...children.flatMap(keywordsIn)];
}

/** Wraps a value so that each read of a member or element is counted. */
function counted<T extends object>(value: T) {
  const count = { read: 0 };
  const get = (target: T, key: string | symbol): unknown => {
    if (key !== 'length') count.read += 1;
    return Reflect.get(target, key);
  };
  return { count, value: new Proxy(value, { get }) };
}

// The attack: a client or an upstream sends far more invalid members and elements than a report needs.
describe('the work of an explanation', () => {
  it('ends after a maximum number of undocumented members', () => {
    const { count, value } = counted(Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`a${at}`, at])));
    expect(explanationOfOne({ type: 'object', additionalProperties: { type: 'null' } })(value)).toHaveLength(1000);
    expect(count.read).toBe(1000);
  });

  it('ends after a maximum number of errors in nested arrays', () => {
    const row = Array.from({ length: 25 }, () => Array.from({ length: 25 }, () => 1));
    const { count, value } = counted(Array.from({ length: 25 }, () => row));
    const explain = explanationOfOne({ items: { items: { items: { type: 'null' } } } });
    expect(explain(value)).toHaveLength(1000);
    expect(count.read).toBe(2);
  });

  it('reads only the first elements of a long array', () => {
    const { count, value } = counted(Array.from({ length: 100_000 }, (_, at) => at));
    expect(explanationOfOne({ items: { type: 'null' } })(value)).toHaveLength(25);
    expect(count.read).toBe(25);
  });

  // The attack: large invalid values. Each would stay in memory until the next invalid value replaced it.
  it('leaves no part of the value in memory', async () => {
    const schema: SchemaObject = { anyOf: [{ type: 'null' }, { type: 'string' }] };
    const explain = explanationOfOne(schema);
    explain([]);
    const held = await heldMemory(() => explain(Array.from({ length: 500_000 }, (_, at) => [at])));
    expect(held).toBeLessThan(4_000_000);
  });
});

describe('the length of a text', () => {
  it('is counted in characters', () => {
    const of = (schema: SchemaObject, value: string) => explanationOfOne(schema)(value).map(({ keyword }) => keyword);
    expect(of({ type: 'string', maxLength: 2 }, '\u{1F600}\u{1F600}x')).toEqual(['maxLength']);
    expect(of({ type: 'string', maxLength: 2 }, '\u{1F600}\u{1F600}')).toEqual(['schema']);
    expect(of({ type: 'string', minLength: 3 }, '\u{1F600}\u{1F600}')).toEqual(['minLength']);
    expect(of({ type: 'string', minLength: 2 }, '\u{1F600}\uD83D')).toEqual(['schema']);
  });
});

import { describe, expect, it } from 'vitest';
import { toSchemaCheck } from '../../../../src/engine/contract/compile/compile-validators.ts';
import { openSchemaStore } from '../../../../src/engine/contract/compile/schema-store.ts';
import { SCHEMA_BASE } from '../../../../src/engine/contract/contract-files.ts';
import { findUnknownFields, findUnmetExpectations } from '../../../../src/engine/contract/explain/advisories.ts';
import { compileFieldShape } from '../../../../src/engine/contract/explain/compile-field-shape.ts';
import type { SchemaObject } from '../../../../src/engine/contract/openapi-document.ts';
import { bent, example, judge } from '../sample.ts';

const shapeOf = (schema: SchemaObject, more: Readonly<Record<string, SchemaObject>> = {}) =>
  compileFieldShape(new Map(Object.entries({ 'a.json': schema, ...more })), 'a.json');

/** Returns pointers to the fields in a value that the schema does not define. */
const unknownTo = (schema: SchemaObject, value: unknown, more: Readonly<Record<string, SchemaObject>> = {}) =>
  findUnknownFields(shapeOf(schema, more), value, 20).map(({ at }) => at);

const PERSON: SchemaObject = { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } };

describe('finding undocumented fields', () => {
  it('searches objects and lists at every level', () => {
    const schema: SchemaObject = {
      properties: { list: { items: { properties: { author: PERSON, tags: { items: PERSON } } } }, count: {} },
    };
    const item = { author: { id: 1, age: 5 }, tags: [{ id: 1 }, { colour: 'red' }], mood: 'x' };
    expect(unknownTo(schema, { list: [item], count: 1, more: true })).toEqual([
      '/more',
      '/list/0/mood',
      '/list/0/author/age',
      '/list/0/tags/1/colour',
    ]);
    expect(unknownTo(schema, { list: [{ author: { id: 1 }, tags: [] }], count: { any: 1 } })).toEqual([]);
  });

  // The attack: 100,000 undocumented fields in one object, or 100,000 items with one undocumented field each. Each name
  // was matched against the secret patterns and became a separate path.
  it('examines a bounded number of them', () => {
    let looked = 0;
    const counting = (fields: object) =>
      new Proxy(fields, {
        get: (target, name) => {
          looked += 1;
          return Reflect.get(target, name) as unknown;
        },
      });
    const secret = (at: number) => [`key${at}@example.org`, at] as const;
    const fields = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => secret(at)));
    expect(unknownTo(PERSON, counting(fields))).toEqual(['/?']);
    expect(looked).toBeLessThanOrEqual(5001);
    looked = 0;
    const items = Array.from({ length: 20_000 }, (_, at) => counting(Object.fromEntries([secret(at)])));
    expect(unknownTo({ items: PERSON }, items)).toEqual(['/0/?']);
    expect(looked).toBeLessThanOrEqual(5001);
  });

  it('finds a field of the last of many items, although all items have other undocumented fields', () => {
    const list = Array.from({ length: 5000 }, (_, id) => ({ id, x: 1, y: 1, ...(id === 4999 && { z: 1 }) }));
    expect(unknownTo({ items: PERSON }, list)).toEqual(['/0/x', '/0/y', '/4999/z']);
  });

  it('reports a field of many items once, for the first of them', () => {
    const list = [{ id: 1 }, { id: 2, x: 1 }, { id: 3, x: 1, y: 1 }, { id: 4, x: 1 }];
    expect(unknownTo({ items: PERSON }, list)).toEqual(['/1/x', '/2/y']);
  });

  it.each<[string, SchemaObject]>([
    ['a schema that accepts anything', {}],
    ['an object without declared fields', { type: 'object' }],
    ['an open field', { properties: { a: { type: 'object', required: ['id'] } } }],
    ['an open alternative', { anyOf: [PERSON, {}] }],
    ['fields defined by patterns', { properties: { a: PERSON }, patternProperties: { '^b': {} } }],
    ['fields that depend on others', { properties: { a: {} }, if: {}, else: { properties: { z: {} } } }],
    ['fields that the contract allows', { properties: { a: {} }, additionalProperties: true }],
    ['a closed object, which the schema itself reports', { properties: { a: {} }, additionalProperties: false }],
  ])('reports nothing for %s', (_what, schema) => {
    expect(unknownTo(schema, { a: { id: 1, z: 2 } })).toEqual([]);
  });

  it('knows every field of all parts that an object must match', () => {
    const schema: SchemaObject = {
      allOf: [
        { $ref: 'base.json' },
        { properties: { list: { type: 'array' } } },
        { properties: { list: { items: PERSON } } },
      ],
    };
    const more = { 'base.json': { type: 'object', properties: { page: {} } } };
    expect(unknownTo(schema, { page: 1, list: [{ id: 1, z: 1 }], size: 2 }, more)).toEqual(['/size', '/list/0/z']);
  });

  it('combines the field schemas of several parts', () => {
    const schema: SchemaObject = {
      allOf: [{ properties: { who: PERSON } }, { properties: { who: { properties: { age: {} } } } }],
    };
    expect(unknownTo(schema, { who: { id: 1, name: 'x', age: 2, z: 3 } })).toEqual(['/who/z']);
  });

  it('knows every field of the alternatives of an object, and does not treat text as an object', () => {
    const schema: SchemaObject = {
      anyOf: [
        { type: 'string' },
        PERSON,
        { properties: { error: { type: ['object', 'null'], properties: { m: {} } } } },
      ],
    };
    expect(unknownTo(schema, { id: 1, error: { m: 1, n: 2 }, z: 1 })).toEqual(['/z', '/error/n']);
    expect(unknownTo(schema, 'text')).toEqual([]);
    expect(unknownTo({ oneOf: [PERSON, { type: 'array' }] }, { id: 1, z: 1 })).toEqual(['/z']);
  });

  it('follows a recursive schema down to the last level', () => {
    const topic = { type: 'object', properties: { id: {}, parents: { items: { $ref: 'topic.json' } } } };
    const value = { id: 1, parents: [{ id: 2, parents: [{ id: 3, z: 1 }] }] };
    expect(unknownTo({ $ref: 'topic.json' }, value, { 'topic.json': topic })).toEqual(['/parents/0/parents/0/z']);
  });

  it('ends for a value of unlimited depth', () => {
    const node = { type: 'object', properties: { below: { $ref: 'node.json' } } };
    let value: unknown = { z: 1 };
    for (let depth = 0; depth < 50_000; depth += 1) value = { below: value };
    expect(unknownTo({ $ref: 'node.json' }, value, { 'node.json': node })).toEqual([]);
  });

  it('does not report a field that must be absent, because the schema reports it', () => {
    expect(unknownTo({ properties: { id: {}, title: { not: {} } } }, { id: 1, title: 'x' })).toEqual([]);
  });

  it('finds a field whatever the order of the fields', () => {
    const shape = shapeOf(PERSON);
    const found = (value: unknown) => findUnknownFields(shape, value, 20).map(({ at }) => at);
    for (const good of [{ id: 1, name: 'a' }, { name: 'a', id: 1 }, { name: 'a' }, {}]) expect(found(good)).toEqual([]);
    expect(found({ name: 'a', id: 1, z: 1 })).toEqual(['/z']);
    expect(found({ z: 1, name: 'a', id: 1 })).toEqual(['/z']);
    expect(found({ name: 'a', id: 1 })).toEqual([]);
    expect(found(JSON.parse('{"id":1,"__proto__":{"x":1}}'))).toEqual(['/__proto__']);
  });

  it('repeats no name that may be a secret, and reports such names of one object once', () => {
    const value = { id: 1, 'bob@example.com': 1, eyJhbGciOiJIUzI1NiJ9: 2, 'a/b': 3 };
    expect(unknownTo(PERSON, value)).toEqual(['/?']);
  });

  it('reports no more than its maximum', () => {
    const value = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`extra${index}`, 1]));
    expect(findUnknownFields(shapeOf(PERSON), value, 7)).toHaveLength(7);
  });

  it('treats more alternatives than can be combined as open', () => {
    const choice: SchemaObject = { anyOf: Array.from({ length: 9 }, (_, at) => ({ properties: { [`f${at}`]: {} } })) };
    expect(unknownTo({ allOf: [choice, choice, PERSON] }, { z: 1 })).toEqual([]);
    expect(unknownTo({ allOf: [choice, PERSON] }, { z: 1, f3: 1, id: 1 })).toEqual(['/z']);
  });
});

/** Returns the schema expectations that a value does not meet, each in the short form `keyword at`. */
function unmet(schema: SchemaObject, value: unknown): string[] {
  const shape = compileFieldShape(new Map([['one.json', schema]]), 'one.json');
  return findUnmetExpectations(shape, value).map(({ keyword, at }) => `${keyword} ${at}`);
}

const objectWith = (...names: string[]) => ({
  type: 'object',
  'x-expected': names,
  properties: Object.fromEntries(names.map((name) => [name, true])),
});

describe('an expectation', () => {
  it('is reported for the first item that does not meet it', () => {
    const items = { type: 'array', items: objectWith('a', 'b') };
    expect(unmet(items, [{ a: 1, b: 1 }, { b: 1 }, {}])).toEqual(['x-expected /1/a', 'x-expected /2/b']);
  });

  it('of a schema that another schema replaces applies only if all alternatives have it', () => {
    const choice = { anyOf: [objectWith('a', 'b'), objectWith('b', 'c')] };
    expect(unmet(choice, {})).toEqual(['x-expected /b']);
    const texts = { anyOf: [{ 'x-expected-pattern': '^a' }, { 'x-expected-pattern': '^b' }] };
    expect(unmet({ properties: { a: texts } }, { a: 'x' })).toEqual([]);
    expect(
      unmet({ properties: { a: { anyOf: [{ 'x-expected-pattern': '^a' }, { type: 'null' }] } } }, { a: 'x' }),
    ).toEqual(['x-expected-pattern /a']);
  });

  it('is not reported for a field that the schema requires', () => {
    expect(unmet({ allOf: [objectWith('a'), { type: 'object', required: ['a'] }] }, {})).toEqual([]);
  });

  it('about the presence of a field does not apply to responses whose fields the client selected', () => {
    const page = { ...example('questions'), list: [{ id: 1, creationDateFormatted: 'today' }], listCount: 1 };
    expect(judge('listQuestions', page, { query: 'include=id' }).reported).toMatchObject([
      {
        keyword: 'x-expected-pattern',
        schemaPath: 'resources/formatted-date.schema.json#/x-expected-pattern',
        at: '/list/0/creationDateFormatted',
      },
    ]);
  });

  it('does not apply to an object of an entirely different kind', () => {
    const page = bent(example('questions'), 'list.0', { follower: 5 });
    const { violations, reported } = judge('listQuestions', page);
    expect([...violations, ...reported].map(({ keyword, at }) => `${keyword} ${at}`)).toEqual(['shape /list/0']);
  });

  it('does not apply to requests', () => {
    const file = 'resources/one.schema.json';
    const schema = { $id: SCHEMA_BASE + file, ...objectWith('a') };
    const compiled = openSchemaStore(new Map([[file, schema]])).compile(file);
    const checkAs = (direction: 'request' | 'response') =>
      toSchemaCheck(compiled, { check: `${direction}s`, direction, location: 'body' }, { unknownFields: true });
    expect(checkAs('request')({})).toEqual([]);
    expect(checkAs('response')({})).toMatchObject([{ keyword: 'x-expected', at: '/a' }]);
  });

  // A message can reveal personal data through its wording or its form, for example if a name is sent in place of a
  // date.
  it('is described without the value', () => {
    const page = bent(example('questions'), 'list.0.creationDateFormatted', 'Ada Lovelace');
    expect(judge('listQuestions', page).reported).toMatchObject([{ found: 'text of 12 characters' }]);
    expect(JSON.stringify(judge('listQuestions', page))).not.toContain('Ada');
  });
});

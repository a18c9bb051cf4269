import { describe, expect, it } from 'vitest';
import { toSchemaCheck } from '../../../src/contract/compile/compile-validators.ts';
import { openSchemaStore } from '../../../src/contract/compile/schema-store.ts';
import { SCHEMA_BASE } from '../../../src/contract/contract-files.ts';
import { compileFieldShape } from '../../../src/contract/explain/compile-field-shape.ts';
import { findUnmetExpectations } from '../../../src/contract/explain/expectations.ts';
import type { SchemaObject } from '../../../src/contract/openapi-document.ts';
import { bent, example, judge } from '../sample.ts';

/** Returns the unmet expectations of a schema in the short form `keyword at`. */
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

  // The wording of a message can be personal, and so can its form, for example if a name is sent in place of a date.
  it('is described without the value', () => {
    const page = bent(example('questions'), 'list.0.creationDateFormatted', 'Ada Lovelace');
    expect(judge('listQuestions', page).reported).toMatchObject([{ found: 'text of 12 characters' }]);
    expect(JSON.stringify(judge('listQuestions', page))).not.toContain('Ada');
  });
});

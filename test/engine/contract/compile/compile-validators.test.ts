import { describe, expect, it } from 'vitest';
import type { SchemaObject } from '../../../../src/engine/contract/openapi-document.ts';
import { openExplanations } from '../../../../src/engine/contract/explain/explain-errors.ts';
import { toSchemaCheck } from '../../../../src/engine/contract/compile/compile-validators.ts';

const place = { check: 'responses', direction: 'response', location: 'body' } as const;

/** Creates a check that returns the same result for every value and records the values that it receives. */
function checkOf(accepted: boolean, schema: SchemaObject) {
  const given: unknown[] = [];
  const accepts = (value: unknown) => {
    given.push(value);
    return accepted;
  };
  const files = new Map([['a.json', schema]]);
  const explain = openExplanations(files, { strict: false })('a.json');
  return { check: toSchemaCheck({ accepts, explain, file: 'a.json', files }, place), given };
}

const STRINGS: SchemaObject = { items: { type: 'string' } };

describe('checking a value against a schema', () => {
  it('reports nothing about a value that the compiled schema accepts', () => {
    const { check, given } = checkOf(true, STRINGS);
    const value = [1];
    expect(check(value)).toEqual([]);
    expect(given).toEqual([value]);
  });

  it('searches only the first elements of each array for all errors, because arrays can be of any length', () => {
    const { check, given } = checkOf(false, { items: { items: { type: 'string' } } });
    const value = Array.from({ length: 1000 }, () => Array.from({ length: 100 }, () => 1));
    const found = check(value);
    expect(given).toEqual([value]);
    expect(found).toHaveLength(25 * 25);
    expect(found[0]).toEqual({
      ...place,
      category: 'type',
      at: '/0/0',
      keyword: 'type',
      schemaPath: 'a.json#/items/items/type',
      message: '/0/0 must be string',
      found: 'integer',
    });
  });

  it('reports the first error of the array if those elements have none', () => {
    const value = Array.from({ length: 1000 }, (_, index) => (index < 299 ? 'x' : 1));
    expect(
      checkOf(false, STRINGS)
        .check(value)
        .map(({ at }) => at),
    ).toEqual(['/299']);
  });

  it('reports that a value is invalid even if it finds no reason', () => {
    expect(checkOf(false, { properties: { a: false } }).check({ a: 1 })).toMatchObject([
      { at: '', keyword: 'schema', category: 'format', message: 'the body does not match the contract' },
    ]);
  });
});

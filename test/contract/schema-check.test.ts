import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { toSchemaCheck } from '../../src/contract/schema-check.ts';
import { trimArrays } from '../../src/contract/trim-arrays.ts';

const place = { check: 'responses', direction: 'response', location: 'body' } as const;

/** A compiled schema that refuses everything with one error, and keeps what it was given. */
function refusing(instancePath: string) {
  const error: ErrorObject = { keyword: 'type', instancePath, schemaPath: '', params: { type: 'string' } };
  const given: unknown[] = [];
  const validate = Object.assign((value: unknown) => given.push(value) === 0, { errors: [error] });
  return { validate: validate as unknown as ValidateFunction, given };
}

const accepting = Object.assign(() => true, { errors: null }) as unknown as ValidateFunction;

describe('checking a value against a schema', () => {
  it('searches for all errors in a trimmed copy only, as their number may have no bound', () => {
    const quick = refusing('/list/0');
    const thorough = refusing('/list/1');
    const check = toSchemaCheck({ quick: quick.validate, thorough: thorough.validate, pointers: new WeakMap() }, place);
    const value = { list: Array.from({ length: 1000 }, () => ({ inner: Array.from({ length: 100 }, () => 1) })) };
    expect(check(value).map(({ at }) => at)).toEqual(['/list/1']);
    expect(quick.given).toEqual([value]);
    const [trimmed] = thorough.given as (typeof value)[];
    expect(trimmed?.list).toHaveLength(25);
    expect(trimmed?.list[0]?.inner).toHaveLength(25);
  });

  it('tells the first error when the trimmed copy has none', () => {
    const quick = refusing('/list/299').validate;
    const check = toSchemaCheck({ quick, thorough: accepting, pointers: new WeakMap() }, place);
    expect(check({}).map(({ at }) => at)).toEqual(['/list/299']);
  });

  it('does not search further when nothing is wrong', () => {
    const thorough = refusing('');
    const check = toSchemaCheck({ quick: accepting, thorough: thorough.validate, pointers: new WeakMap() }, place);
    expect(check({})).toEqual([]);
    expect(thorough.given).toEqual([]);
  });
});

describe('trimming arrays', () => {
  it('keeps the first elements at every depth and changes nothing', () => {
    const value = { a: [1, 2, 3], b: { c: [[1, 2, 3], 2, 3] }, d: null };
    const before = structuredClone(value);
    expect(trimArrays(value, 2)).toEqual({ a: [1, 2], b: { c: [[1, 2], 2] }, d: null });
    expect(value).toEqual(before);
  });

  it('bears a value that is nested very deep', () => {
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown;
    expect(() => trimArrays(deep, 2)).not.toThrow();
  });
});

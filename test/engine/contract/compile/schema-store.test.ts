import { describe, expect, it } from 'vitest';
import type { SchemaObject } from '../../../../src/engine/contract/openapi-document.ts';
import { openSchemaStore } from '../../../../src/engine/contract/compile/schema-store.ts';

/** Compiles a schema given as JSON text and returns a function that checks values against it. */
function compiled(text: string): (value: unknown) => unknown {
  const file = 'resources/thing.schema.json';
  const schema = openSchemaStore(new Map([[file, JSON.parse(text) as SchemaObject]])).compile(file);
  return (value) => schema?.accepts(value);
}

const withId = (rest: string) => `{"$id":"portico:/schemas/resources/thing.schema.json",${rest}}`;

describe('a compiled schema', () => {
  it.each([
    ['"constructor"', 'constructor'],
    ['"toString"', 'toString'],
    [String.raw`"\u0063onstructor"`, 'constructor'],
    ['"__proto__"', '__proto__'],
  ])('that requires %s does not accept the inherited property', (written, name) => {
    const accepts = compiled(withId(`"type":"object","properties":{${written}:{}},"required":[${written}]`));
    expect(accepts({})).toBe(false);
    expect(accepts(JSON.parse(`{"${name}":1}`))).toBe(true);
  });

  it('treats an inherited name as unknown unless it documents it', () => {
    const accepts = compiled(withId('"type":"object","properties":{"a":{}},"additionalProperties":false'));
    expect(accepts({ a: 1 })).toBe(true);
    for (const text of ['{"constructor":1}', '{"__proto__":1}', '{"toString":null}'])
      expect(accepts(JSON.parse(text))).toBe(false);
  });
});

describe('the schemas of two stores', () => {
  const base = 'portico:/schemas/';
  const schema = (file: string, rest: Partial<SchemaObject>) => [file, { $id: `${base}${file}`, ...rest }] as const;
  const page = 'operations/page.schema.json';
  /** Compiles a page whose items reference a thing, which in turn references a part. */
  const pageOf = (part: Partial<SchemaObject>, more: readonly (readonly [string, SchemaObject])[] = []) =>
    openSchemaStore(
      new Map([
        schema(page, { type: 'array', items: { $ref: '../resources/thing.schema.json' } }),
        schema('resources/thing.schema.json', {
          type: 'object',
          properties: { part: { $ref: 'part.schema.json' } },
        }),
        schema('resources/part.schema.json', part),
        ...more,
      ]),
    ).compile(page);

  it('are compiled once if they and all schemas that they refer to are equal', () => {
    const one = pageOf({ type: 'string' });
    const other = pageOf({ type: 'string' }, [schema('resources/unused.schema.json', { type: 'number' })]);
    expect(other?.accepts).toBe(one?.accepts);
    expect(other?.explain).toBe(one?.explain);
    expect(other?.files.has('resources/unused.schema.json')).toBe(true);
  });

  it('are compiled separately if a schema differs that they refer to through another one', () => {
    const [text, number] = [pageOf({ type: 'string' }), pageOf({ type: 'number' })];
    const values = [[{ part: 'x' }], [{ part: 1 }]];
    expect(values.map((value) => text?.accepts(value))).toEqual([true, false]);
    expect(values.map((value) => number?.accepts(value))).toEqual([false, true]);
    expect(text?.explain(values[1]).map(({ limit }) => limit)).toEqual(['string']);
    expect(number?.explain(values[0]).map(({ limit }) => limit)).toEqual(['number']);
  });
});

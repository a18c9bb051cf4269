import { describe, expect, it } from 'vitest';
import type { OpenApiDocument, SchemaObject } from '../../../src/engine/contract/openapi-document.ts';
import { innerSchemas, mapInner, schemasOfValue, visitSchemas } from '../../../src/engine/contract/walk-schema.ts';

const named = (title: string): SchemaObject => ({ title });

const WHOLE: SchemaObject = {
  title: 'whole',
  oneOf: [named('one'), named('other')],
  properties: { 'a/b': { title: 'member', items: named('element') }, gone: false },
  additionalProperties: named('rest'),
  allOf: [named('part')],
  anyOf: [{ title: 'way', not: named('nothing') }],
};

describe('the walk through a schema', () => {
  it('visits every schema inside, with its pointer', () => {
    const visited: string[] = [];
    visitSchemas(WHOLE, ({ title }, pointer) => void visited.push(`${String(title)} ${pointer}`), '/at');
    expect(visited).toEqual([
      'whole /at',
      'member /at/properties/a~1b',
      'element /at/properties/a~1b/items',
      'rest /at/additionalProperties',
      'part /at/allOf/0',
      'way /at/anyOf/0',
      'nothing /at/anyOf/0/not',
      'one /at/oneOf/0',
      'other /at/oneOf/1',
    ]);
  });

  it('leaves out what is inside a schema whose visitor returns false', () => {
    const visited: unknown[] = [];
    visitSchemas(WHOLE, ({ title }) => {
      visited.push(title);
      return title !== 'member' && title !== 'way';
    });
    expect(visited).toEqual(['whole', 'member', 'rest', 'part', 'way', 'one', 'other']);
  });

  it('finds nothing in a schema that accepts everything or nothing', () => {
    expect([innerSchemas(true), innerSchemas(false)]).toEqual([[], []]);
  });

  it('replaces the inner schemas and keeps the order of the keywords', () => {
    const copy = mapInner(WHOLE, ({ keyword, key, schema }) =>
      schema === false ? schema : { title: [keyword, key].join(' ') },
    );
    expect(Object.keys(copy)).toEqual(Object.keys(WHOLE));
    expect(copy).toEqual({
      title: 'whole',
      oneOf: [named('oneOf 0'), named('oneOf 1')],
      properties: { 'a/b': named('properties a/b'), gone: false },
      additionalProperties: named('additionalProperties '),
      allOf: [named('allOf 0')],
      anyOf: [named('anyOf 0')],
    });
  });

  it('collects what describes the same value: references and combinations, even if they refer to each other', () => {
    const schemas = {
      Base: { title: 'base', oneOf: [named('one'), { $ref: '#/components/schemas/Base' }] },
    };
    const document = { components: { schemas } } as unknown as OpenApiDocument;
    const value = { title: 'value', $ref: '#/components/schemas/Base', items: named('element'), not: named('not') };
    expect(schemasOfValue(document, value).flatMap(({ title }) => title ?? [])).toEqual(['value', 'base', 'one']);
  });
});

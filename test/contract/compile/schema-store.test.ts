import { describe, expect, it } from 'vitest';
import type { SchemaObject } from '../../../src/contract/openapi-document.ts';
import { openSchemaStore } from '../../../src/contract/compile/schema-store.ts';

/** Returns the compiled check of a schema that is given as JSON text. */
function compiled(text: string): (value: unknown) => unknown {
  const file = 'resources/thing.schema.json';
  const schema = openSchemaStore(new Map([[file, JSON.parse(text) as SchemaObject]])).compile(file);
  return (value) => schema?.accepts(value);
}

const withId = (rest: string) => `{"$id":"https://portico.invalid/schemas/resources/thing.schema.json",${rest}}`;

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

import type { SchemaOrBoolean } from '../openapi-document.ts';

/** Writes a reference to a resource, as it must read in the generated file. */
export type WriteReference = (reference: string) => string;

const STRIPPED = new Set(['example', 'examples', 'format', 'externalDocs', 'xml', 'discriminator']);

/** A schema of the document as plain JSON Schema: no extensions, no examples, no formats that Ajv does not know. */
export function stripSchema(schema: SchemaOrBoolean, writeReference: WriteReference): SchemaOrBoolean {
  // An object can be found again in Ajv's errors, a bare `false` cannot.
  if (typeof schema === 'boolean') return schema || { not: {} };
  const strip = (child: SchemaOrBoolean) => stripSchema(child, writeReference);
  const plain: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema))
    if (!STRIPPED.has(keyword) && !keyword.startsWith('x-')) plain[keyword] = value;
  // The one format that a number can be held to: its range, as near as a double comes to it.
  if (schema.format === 'int64') {
    plain['minimum'] ??= -(2 ** 63);
    plain['maximum'] ??= 2 ** 63;
  }
  if (schema.$ref !== undefined) plain['$ref'] = writeReference(schema.$ref);
  if (schema.items !== undefined) plain['items'] = strip(schema.items);
  if (schema.allOf) plain['allOf'] = schema.allOf.map(strip);
  if (schema.anyOf) plain['anyOf'] = schema.anyOf.map(strip);
  if (schema.oneOf) plain['oneOf'] = schema.oneOf.map(strip);
  if (schema.not !== undefined) plain['not'] = strip(schema.not);
  // A bare `false` can stay here: what it refuses is told by the name of the field.
  if (typeof schema.additionalProperties === 'object')
    plain['additionalProperties'] = strip(schema.additionalProperties);
  if (schema.properties)
    plain['properties'] = Object.fromEntries(
      Object.entries(schema.properties).map(([name, child]) => [name, strip(child)]),
    );
  return plain;
}

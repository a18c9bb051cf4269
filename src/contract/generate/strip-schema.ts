import type { SchemaObject, SchemaOrBoolean } from '../openapi-document.ts';

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
  if (schema.$ref !== undefined) plain['$ref'] = writeReference(schema.$ref);
  if (schema.items !== undefined) plain['items'] = strip(schema.items);
  const rest = schema['additionalProperties'];
  if (typeof rest === 'object' && rest !== null) plain['additionalProperties'] = strip(rest as SchemaObject);
  if (schema.allOf) plain['allOf'] = schema.allOf.map(strip);
  if (schema.anyOf) plain['anyOf'] = schema.anyOf.map(strip);
  if (schema.properties)
    plain['properties'] = Object.fromEntries(
      Object.entries(schema.properties).map(([name, child]) => [name, strip(child)]),
    );
  return plain;
}

import type {
  OpenApiDocument,
  OperationObject,
  ResponseObject,
  SchemaObject,
  SchemaOrBoolean,
} from './openapi-document.ts';
import { resolve } from './resolve-reference.ts';

/** Names of the fields that a success can have at its top; none for bare arrays. Tells an error inside a 200 from a page. */
export function documentedFields(document: OpenApiDocument, source: OperationObject): readonly string[] {
  const names = new Set<string>();
  for (const [status, place] of Object.entries(source.responses)) {
    if (!status.startsWith('2')) continue;
    const { content } = resolve<ResponseObject>(document, 'responses', place);
    for (const { schema } of Object.values(content)) collect(document, schema, names);
  }
  return [...names];
}

function collect(document: OpenApiDocument, place: SchemaOrBoolean, names: Set<string>): void {
  if (typeof place === 'boolean') return;
  const schema = resolve<SchemaObject>(document, 'schemas', place);
  for (const name of Object.keys(schema.properties ?? {})) names.add(name);
  for (const part of [...(schema.allOf ?? []), ...(schema.anyOf ?? [])]) collect(document, part, names);
}

import { escapePointer } from '../../lib/json-pointer.ts';
import type { Fault } from '../../model/fault.ts';
import { CONTRACT_SOURCE, resourceFile, SCHEMA_BASE } from '../contract-files.ts';
import type { OpenApiDocument } from '../openapi-document.ts';

// How Ajv ends what it says of a schema: where, and which of its rules.
const WHERE = new RegExp(` at "${RegExp.escape(SCHEMA_BASE)}([^"#]+)#?([^"]*)"(?: \\(\\w+\\))?$`);

/** A fault of a schema that was generated in memory as one of the document: nobody finds a file that was never written. */
export function toDocumentFault(document: OpenApiDocument, { source, message }: Fault): Fault {
  const [, file = source.replace(/^schemas\//, ''), inside = ''] = WHERE.exec(message) ?? [];
  const place = placeOfSchema(document, file);
  return {
    source: CONTRACT_SOURCE,
    // What is generated from a resource has its places; what is generated from an operation is put together.
    pointer: file.startsWith('resources/') ? `${place}${inside}` : place,
    message: message.replace(WHERE, '').replace(/^strict mode: /, ''),
  };
}

/** Returns the place in the document that a generated schema comes from, as a JSON pointer; empty if there is none. */
export function placeOfSchema(
  { components, paths }: Pick<OpenApiDocument, 'components' | 'paths'>,
  file: string,
): string {
  const [kind, id] = file.split('/');
  if (kind === 'resources') {
    const name = Object.keys(components.schemas).find((one) =>
      [resourceFile(one), resourceFile(one, true)].includes(file),
    );
    return name === undefined ? '' : `/components/schemas/${escapePointer(name)}`;
  }
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { operationId }] of Object.entries(methods))
      if (operationId === id) return `/paths/${escapePointer(path)}/${method}`;
  return '';
}

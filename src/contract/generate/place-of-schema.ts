import { escapePointer } from '../../lib/json-pointer.ts';
import type { Fault } from '../../model/fault.ts';
import { CONTRACT_SOURCE, resourceFile, SCHEMA_BASE } from '../contract-files.ts';
import type { OpenApiDocument } from '../openapi-document.ts';

// Matches the end of an Ajv message about a schema, which names the location and the violated Ajv rule.
const WHERE = new RegExp(` at "${RegExp.escape(SCHEMA_BASE)}([^"#]+)#?([^"]*)"(?: \\(\\w+\\))?$`);

/** Converts a fault in a generated schema, which may exist only in memory, to a fault in the document. */
export function toDocumentFault(document: OpenApiDocument, { source, message }: Fault): Fault {
  const [, file = source.replace(/^schemas\//, ''), inside = ''] = WHERE.exec(message) ?? [];
  const place = placeOfSchema(document, file);
  return {
    source: CONTRACT_SOURCE,
    // A resource's schema has the same structure as in the document. An operation's schema is assembled from several
    // parts of the document, so the pointer leads only to the operation.
    pointer: file.startsWith('resources/') ? `${place}${inside}` : place,
    message: message.replace(WHERE, '').replace(/^strict mode: /, ''),
  };
}

/**
 * Returns a JSON pointer to the part of the document from which a schema is generated, or an empty string if unknown.
 */
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

import type { OpenApiDocument, SchemaObject, SchemaOrBoolean } from './openapi-document.ts';
import { resolve } from './resolve-reference.ts';

/**
 * The names of all fields that the contract marks as personal (`x-pii`), here or in what they refer to. A name that is
 * personal anywhere counts as personal everywhere.
 */
export function personalFields(document: OpenApiDocument): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    const properties: unknown = 'properties' in value ? value.properties : undefined;
    if (typeof properties === 'object' && properties !== null)
      for (const [name, schema] of Object.entries(properties))
        if (isPersonal(document, schema as SchemaOrBoolean, 0)) names.add(name);
    for (const child of Object.values(value)) visit(child);
  };
  visit(document.components);
  visit(document.paths);
  return names;
}

const MAX_DEPTH = 8;

function isPersonal(document: OpenApiDocument, place: SchemaOrBoolean, depth: number): boolean {
  if (typeof place !== 'object' || depth > MAX_DEPTH) return false;
  if (place['x-pii'] !== undefined) return true;
  const target = place.$ref === undefined ? undefined : resolve<SchemaObject>(document, 'schemas', place);
  const parts = [target, place.items, ...(place.allOf ?? []), ...(place.anyOf ?? [])];
  return parts.some((part) => part !== undefined && part !== place && isPersonal(document, part, depth + 1));
}

import { escapePointer } from '../../lib/json-pointer.ts';
import type { Fault } from '../../model/fault.ts';
import { CONTRACT_SOURCE } from '../contract-files.ts';
import type { OpenApiDocument, SchemaOrBoolean } from '../openapi-document.ts';
import { referencedName } from '../openapi-document.ts';

/**
 * Finds endless references: schemas that apply themselves to the same value, and components that are only references.
 */
export function checkReferences({ components }: Pick<OpenApiDocument, 'components'>): Fault[] {
  const { schemas } = components;
  const reaches = (from: string, target: string, seen: Set<string>): boolean =>
    appliedTo(schemas[from] ?? true).some((next) => {
      if (next === target || seen.has(next)) return next === target;
      seen.add(next);
      return reaches(next, target, seen);
    });
  const cycles = Object.keys(schemas)
    .filter((name) => reaches(name, name, new Set()))
    .map((name) => fault('schemas', name, 'refers to itself without end'));
  const aliases = (['parameters', 'responses'] as const).flatMap((kind) =>
    Object.entries(components[kind])
      .filter(([, component]) => '$ref' in component)
      .map(([name]) => fault(kind, name, 'must not be a reference')),
  );
  return [...cycles, ...aliases];
}

/** Returns the names of the resources that a schema applies to its own value, not to a value inside it. */
function appliedTo(schema: SchemaOrBoolean): string[] {
  if (typeof schema === 'boolean') return [];
  const { $ref, allOf = [], anyOf = [], oneOf = [], not = true } = schema;
  const own = $ref === undefined ? [] : [referencedName($ref)];
  return [...own, ...[...allOf, ...anyOf, ...oneOf, not].flatMap(appliedTo)];
}

function fault(kind: string, name: string, message: string): Fault {
  return { source: CONTRACT_SOURCE, pointer: `/components/${kind}/${escapePointer(name)}`, message };
}

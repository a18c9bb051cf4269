import { escapePointer } from '../../lib/json-pointer.ts';
import type { Fault } from '../../model/fault.ts';
import { CONTRACT_SOURCE } from '../contract-files.ts';
import type { OpenApiDocument, SchemaOrBoolean } from '../openapi-document.ts';
import { referencedName } from '../openapi-document.ts';

/** Checks that references come to an end: a schema that is judged by itself again, and components that are references only. */
export function checkReferences({ components }: Pick<OpenApiDocument, 'components'>): Fault[] {
  const { schemas } = components;
  const reaches = (from: string, target: string, seen: Set<string>): boolean =>
    judgedWith(schemas[from] ?? true).some((next) => {
      if (next === target || seen.has(next)) return next === target;
      seen.add(next);
      return reaches(next, target, seen);
    });
  const cycles = Object.keys(schemas)
    .filter((name) => reaches(name, name, new Set()))
    .map((name) => fault('schemas', name, 'is judged by itself again, without end'));
  const aliases = (['parameters', 'responses'] as const).flatMap((kind) =>
    Object.entries(components[kind])
      .filter(([, component]) => '$ref' in component)
      .map(([name]) => fault(kind, name, 'must be written here, not be a reference')),
  );
  return [...cycles, ...aliases];
}

/** Names of the resources that judge the very value that a schema judges, not one inside it. */
function judgedWith(schema: SchemaOrBoolean): string[] {
  if (typeof schema === 'boolean') return [];
  const { $ref, allOf = [], anyOf = [], oneOf = [], not = true } = schema;
  const own = $ref === undefined ? [] : [referencedName($ref)];
  return [...own, ...[...allOf, ...anyOf, ...oneOf, not].flatMap(judgedWith)];
}

function fault(kind: string, name: string, message: string): Fault {
  return { source: CONTRACT_SOURCE, pointer: `/components/${kind}/${escapePointer(name)}`, message };
}

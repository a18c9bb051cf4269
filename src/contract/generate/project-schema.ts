import type { SchemaObject, SchemaOrBoolean } from '../openapi-document.ts';
import { referencedName } from '../resolve-reference.ts';

/** What an answer may look like when the caller chose its fields: envelopes as ever, nothing required inside items. */
export function projectSchema(schema: SchemaOrBoolean, inEnvelope = false): SchemaOrBoolean {
  if (typeof schema === 'boolean') return schema;
  const envelope = inEnvelope || schema['x-envelope'] === true;
  const projected: Record<string, unknown> = { ...schema };
  if (!envelope) delete projected['required'];
  if (schema.items !== undefined) projected['items'] = projectSchema(schema.items);
  const rest = restOf(schema);
  if (rest !== undefined) projected['additionalProperties'] = projectSchema(rest);
  if (schema.allOf) projected['allOf'] = schema.allOf.map((part) => projectSchema(part, envelope));
  if (schema.anyOf) projected['anyOf'] = schema.anyOf.map((part) => projectSchema(part, envelope));
  if (schema.properties)
    projected['properties'] = Object.fromEntries(
      Object.entries(schema.properties).map(([name, child]) => [name, projectSchema(child)]),
    );
  return projected;
}

/** Names of the resources that a schema points to directly. */
export function referencesOf(schema: SchemaOrBoolean): string[] {
  if (typeof schema === 'boolean') return [];
  const parts = [schema.items ?? true, restOf(schema) ?? true, ...(schema.allOf ?? []), ...(schema.anyOf ?? [])];
  const children = [...parts, ...Object.values(schema.properties ?? {})];
  const own = schema.$ref === undefined ? [] : [referencedName(schema.$ref)];
  return [...own, ...children.flatMap(referencesOf)];
}

/** Names of the resources whose projected form differs from the full one, directly or further down. */
export function projectableResources(schemas: Readonly<Record<string, SchemaObject>>): Set<string> {
  const names = Object.keys(schemas);
  const differs = new Set(
    names.filter((name) => JSON.stringify(projectSchema(schemas[name] ?? true)) !== JSON.stringify(schemas[name])),
  );
  for (let before = -1; before !== differs.size;) {
    before = differs.size;
    for (const name of names)
      if (referencesOf(schemas[name] ?? true).some((child) => differs.has(child))) differs.add(name);
  }
  return differs;
}

/** What members beyond the named ones must be, where that is a schema. */
function restOf({ additionalProperties: rest }: SchemaObject): SchemaObject | undefined {
  return typeof rest === 'object' && rest !== null ? (rest as SchemaObject) : undefined;
}

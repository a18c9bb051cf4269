import { referencedName, type SchemaObject, type SchemaOrBoolean } from '../openapi-document.ts';

/**
 * Returns the schema of a response with selected fields: the envelope is unchanged, and nothing is required inside
 * items.
 */
export function projectSchema(schema: SchemaOrBoolean, inEnvelope = false): SchemaOrBoolean {
  if (typeof schema === 'boolean') return schema;
  const envelope = inEnvelope || schema['x-envelope'] === true;
  const projected: Record<string, unknown> = { ...schema };
  if (!envelope) {
    delete projected['required'];
    delete projected['minProperties'];
  }
  if (schema.items !== undefined) projected['items'] = projectSchema(schema.items);
  if (schema.allOf) projected['allOf'] = schema.allOf.map((part) => projectSchema(part, envelope));
  if (schema.anyOf) projected['anyOf'] = schema.anyOf.map((part) => projectSchema(part, envelope));
  if (schema.oneOf) {
    // With fewer required fields, a value can match several of the schemas.
    delete projected['oneOf'];
    const choice = { anyOf: schema.oneOf.map((part) => projectSchema(part, envelope)) };
    projected['allOf'] = [...((projected['allOf'] as SchemaOrBoolean[] | undefined) ?? []), choice];
  }
  if (schema.additionalProperties !== undefined)
    projected['additionalProperties'] = projectSchema(schema.additionalProperties);
  if (schema.properties)
    projected['properties'] = Object.fromEntries(
      Object.entries(schema.properties).map(([name, child]) => [name, projectSchema(child)]),
    );
  return projected;
}

/** Returns the names of the resources that a schema refers to directly. */
export function referencesOf(schema: SchemaOrBoolean): string[] {
  if (typeof schema === 'boolean') return [];
  const { items = true, not = true, additionalProperties = true, allOf = [], anyOf = [], oneOf = [] } = schema;
  const parts = [items, not, additionalProperties, ...allOf, ...anyOf, ...oneOf];
  const children = [...parts, ...Object.values(schema.properties ?? {})];
  const own = schema.$ref === undefined ? [] : [referencedName(schema.$ref)];
  return [...own, ...children.flatMap(referencesOf)];
}

/**
 * Returns the names of the resources whose projected form differs from the full one, directly or through a reference.
 */
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

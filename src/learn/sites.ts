import { type DocumentNode, type SchemaNode, childPath } from './document.ts';

/** A schema and its JSONPath in the document. */
export interface Site {
  readonly path: string;
  readonly schema: SchemaNode;
  /** True if the schema is one of several alternatives, so that a value does not have to match it. */
  readonly alternative?: boolean;
}

/** Returns the component that a reference points to. */
export function referenced(document: DocumentNode, reference: string): Site | undefined {
  const name = reference.split('/').at(-1) ?? '';
  const schema = document.components.schemas[name];
  return schema && { path: childPath('$.components.schemas', name), schema };
}

/**
 * Returns a schema, its parts and the targets of all references. The target of the schema's own reference comes first.
 */
export function flatten(document: DocumentNode, site: Site, seen = new Set<string>()): Site[] {
  if (seen.has(site.path)) return [];
  seen.add(site.path);
  const { schema, path, alternative = false } = site;
  const target = schema.$ref === undefined ? undefined : referenced(document, schema.$ref);
  const parts = (['allOf', 'anyOf'] as const).flatMap((keyword) =>
    (schema[keyword] ?? []).flatMap((part, index): Site[] =>
      typeof part === 'boolean'
        ? []
        : [{ path: `${path}.${keyword}[${index}]`, schema: part, alternative: alternative || keyword === 'anyOf' }],
    ),
  );
  return [
    ...(target === undefined ? [] : flatten(document, { ...target, alternative }, seen)),
    site,
    ...parts.flatMap((part) => flatten(document, part, seen)),
  ];
}

/** Returns the lists of types that apply to a value. The value must have one type from each list. */
export function typesOf(sites: readonly Site[]): readonly (readonly string[])[] {
  return sites.flatMap(({ schema, alternative }) =>
    alternative === true || schema.type === undefined ? [] : [[schema.type].flat()],
  );
}

/** Returns a member's schema as a list, which is empty if the given schema does not name the member. */
export function memberSites({ path, schema }: Site, name: string): Site[] {
  const { properties = {} } = schema;
  const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (member === undefined) return [];
  return [{ path: childPath(`${path}.properties`, name), schema: typeof member === 'boolean' ? { not: {} } : member }];
}

/** Returns the schema for unnamed members as a list, which is empty if there is no such schema. */
export function restSites({ path, schema }: Site): Site[] {
  const rest = schema['additionalProperties'];
  if (typeof rest !== 'object' || rest === null) return [];
  return [{ path: `${path}.additionalProperties`, schema: rest as SchemaNode }];
}

/** Returns the schema for array elements as a list, which is empty if there is no such schema. */
export function itemSites({ path, schema: { items } }: Site): Site[] {
  return typeof items === 'object' ? [{ path: `${path}.items`, schema: items }] : [];
}

import { childPath } from './document-path.ts';
import type { DocumentNode, SchemaNode } from './document.ts';

/** A schema and its JSONPath in the document. */
export interface Site {
  readonly path: string;
  readonly schema: SchemaNode;
  /** True if the schema is one of several alternatives. A value need not match such a schema. */
  readonly alternative?: boolean;
}

/** Returns the component that a reference points to. */
export function referenced(document: DocumentNode, reference: string): Site | undefined {
  const name = reference.split('/').at(-1) ?? '';
  const schema = document.components.schemas[name];
  return schema && { path: childPath('$.components.schemas', name), schema };
}

/**
 * Returns a schema, its parts, and the targets of all references in them. If the schema itself is a reference, its
 * target comes first.
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

/** Returns the schema of a member as a list. The list is empty if the given schema does not name the member. */
export function memberSites({ path, schema }: Site, name: string): Site[] {
  const { properties = {} } = schema;
  const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (member === undefined) return [];
  return [{ path: childPath(`${path}.properties`, name), schema: typeof member === 'boolean' ? { not: {} } : member }];
}

/** Returns the schema for unnamed members as a list. The list is empty if there is no such schema. */
export function restSites({ path, schema }: Site): Site[] {
  const rest = schema['additionalProperties'];
  if (typeof rest !== 'object' || rest === null) return [];
  return [{ path: `${path}.additionalProperties`, schema: rest as SchemaNode }];
}

/** Returns the schema for array elements as a list. The list is empty if there is no such schema. */
export function itemSites({ path, schema: { items } }: Site): Site[] {
  return typeof items === 'object' ? [{ path: `${path}.items`, schema: items }] : [];
}

/** Returns the names of all members that the schemas describe. */
export function memberNames(sites: readonly Site[]): ReadonlySet<string> {
  return new Set(sites.flatMap(({ schema }) => Object.keys(schema.properties ?? {})));
}

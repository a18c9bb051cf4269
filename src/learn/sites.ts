import { type DocumentNode, type SchemaNode, stepTo } from './document.ts';

/** A schema and where it stands in the document, as a JSONPath. */
export interface Site {
  readonly path: string;
  readonly schema: SchemaNode;
  /** True for one of several alternatives: a value need not keep to it. */
  readonly alternative?: boolean;
}

/** The component that a reference points to. */
export function referenced(document: DocumentNode, reference: string): Site | undefined {
  const name = reference.split('/').at(-1) ?? '';
  const schema = document.components.schemas[name];
  return schema && { path: stepTo('$.components.schemas', name), schema };
}

/** The schema itself and all that it points to and is made of, the most telling first. */
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

/** The types that a value must have, one of each. */
export function typesOf(sites: readonly Site[]): readonly (readonly string[])[] {
  return sites.flatMap(({ schema, alternative }) =>
    alternative === true || schema.type === undefined ? [] : [[schema.type].flat()],
  );
}

/** Where a schema describes a member. */
export function memberSites({ path, schema }: Site, name: string): Site[] {
  const { properties = {} } = schema;
  const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (member === undefined) return [];
  return [{ path: stepTo(`${path}.properties`, name), schema: typeof member === 'boolean' ? { not: {} } : member }];
}

/** Where a schema describes members that it does not name. */
export function restSites({ path, schema }: Site): Site[] {
  const rest = schema['additionalProperties'];
  if (typeof rest !== 'object' || rest === null) return [];
  return [{ path: `${path}.additionalProperties`, schema: rest as SchemaNode }];
}

/** Where a schema describes elements. */
export function itemSites({ path, schema: { items } }: Site): Site[] {
  return typeof items === 'object' ? [{ path: `${path}.items`, schema: items }] : [];
}

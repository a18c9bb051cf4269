import { innerSchemas, isCombined } from '../engine/contract/walk-schema.ts';
import type { SchemaObject } from '../engine/contract/openapi-document.ts';
import { childPath, type DocumentNode, type OperationNode, type ResponseNode } from './document.ts';

/** A description of a place and its lists of types. A value must match at least one type from each list. */
export interface TypedSite extends Site {
  readonly types: readonly (readonly string[])[];
}

/** The name of a member and the path of the schema that lists it. */
interface NamedMember {
  readonly path: string;
  readonly name: string;
}

/** How the contract describes one place in a response. */
export interface PlaceSchema {
  /** The schema for the place itself, before any reference is followed. */
  readonly written: Site;
  /**
   * The schema for the place or, if that schema is a reference, the schema that it points to. Observations about an
   * object are stored under the path of this schema.
   */
  readonly owner: Site;
  /** True if the contract does not describe the place, or states only that it is an object. */
  readonly open: boolean;
  /** True if the value is personal data. */
  readonly personal: boolean;
  /**
   * The descriptions of the place. There is more than one if several parts of an object's schema describe the same
   * field.
   */
  readonly places: readonly TypedSite[];
  /** All schemas that apply to the value, as a flat list. */
  readonly sites: readonly Site[];
  /** True if the contract describes the members of the value. */
  readonly describesMembers: boolean;
  /** The required members, each with the path of the schema that requires it. */
  readonly required: readonly NamedMember[];
  /** The members that are expected but not required, each with the path of the schema that expects it. */
  readonly expected: readonly NamedMember[];
  /** Returns the description of a member, or undefined if the member is undocumented. */
  member(name: string): PlaceSchema | undefined;
  /** Returns the description of array elements, or undefined if there is none. */
  items(): PlaceSchema | undefined;
}

/** Returns the description of a response body, or undefined if the contract does not describe a JSON body. */
type FindPlaceSchema = (operationId: string, status: number, open: boolean) => PlaceSchema | undefined;

const JSON_TYPE = 'application/json';

/** Creates an index of a contract's operations. Each place is compiled when it is first needed. */
export function compilePlaceSchemas(document: DocumentNode): FindPlaceSchema {
  const operations = new Map<string, { at: string; source: OperationNode }>();
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, source] of Object.entries(methods))
      operations.set(source.operationId, { at: childPath(childPath('$.paths', path), method), source });
  const known = new Map<string, PlaceSchema>();
  const placeSchemaOf = (sites: readonly Site[]): PlaceSchema => {
    const key = sites.map(({ path }) => path).join(' ');
    const placeSchema = known.get(key) ?? createPlaceSchema(document, sites, placeSchemaOf);
    known.set(key, placeSchema);
    return placeSchema;
  };
  return (operationId, status, open) => {
    const operation = operations.get(operationId);
    if (operation === undefined) return undefined;
    const { responses } = operation.source;
    const name = responses[String(status)] !== undefined ? String(status) : status >= 400 ? 'default' : undefined;
    const response = name === undefined ? undefined : responses[name];
    if (name === undefined || response === undefined) return undefined;
    const site = responseSite(document, childPath(childPath(operation.at, 'responses'), name), response, open);
    return site && placeSchemaOf([site]);
  };
}

function responseSite(document: DocumentNode, at: string, response: ResponseNode, open: boolean): Site | undefined {
  const shared = response.$ref?.split('/').at(-1);
  const path = shared === undefined ? at : childPath('$.components.responses', shared);
  const media = (shared === undefined ? response : document.components.responses[shared])?.content?.[JSON_TYPE];
  if (media === undefined) return undefined;
  const variant = media['x-variants']?.[open ? 'open' : 'full'];
  if (variant === undefined)
    return { path: `${childPath(childPath(path, 'content'), JSON_TYPE)}.schema`, schema: media.schema };
  return referenced(document, variant);
}

const NEUTRAL_KEYWORDS = new Set([
  '$ref',
  'type',
  'description',
  'title',
  'format',
  'allOf',
  'anyOf',
  'oneOf',
  'example',
  'examples',
]);

function isOpen({ schema }: Site): boolean {
  const types = [typeOf(schema) ?? 'object'].flat();
  if (types.join() !== 'object') return false;
  return Object.keys(schema).every((keyword) => NEUTRAL_KEYWORDS.has(keyword) || keyword.startsWith('x-'));
}

function createPlaceSchema(
  document: DocumentNode,
  roots: readonly Site[],
  placeSchemaOf: (sites: readonly Site[]) => PlaceSchema,
): PlaceSchema {
  const [first] = roots;
  if (first === undefined) throw new Error('a place needs a schema');
  const parts = roots.map((root) => flatten(document, root));
  const places = roots.map((root, at) => ({ ...root, types: typesOf(parts[at] ?? []) }));
  const sites = parts.flat();
  const written = roots.at(-1) ?? first;
  const owner = written.schema.$ref === undefined ? written : (referenced(document, written.schema.$ref) ?? written);
  const placeSchemaOfAll = (found: readonly Site[]) => (found.length === 0 ? undefined : placeSchemaOf(found));
  const names = memberNames(sites);
  // Members are compiled when they are first needed, because a schema can contain itself. The result is cached,
  // because every object on a page needs it.
  const members = new Map<string, PlaceSchema | undefined>();
  let rest: { placeSchema: PlaceSchema | undefined } | undefined;
  let items: { placeSchema: PlaceSchema | undefined } | undefined;
  return {
    written,
    owner,
    places,
    sites,
    open: sites.every(isOpen),
    personal: sites.some(({ schema }) => schema['x-pii'] !== undefined),
    describesMembers: names.size > 0,
    required: membersNamedIn(sites, 'required'),
    expected: membersNamedIn(sites, 'x-expected'),
    member: (name) => {
      if (!names.has(name)) return (rest ??= { placeSchema: placeSchemaOfAll(sites.flatMap(restSites)) }).placeSchema;
      if (!members.has(name)) members.set(name, placeSchemaOfAll(sites.flatMap((site) => memberSites(site, name))));
      return members.get(name);
    },
    items: () => (items ??= { placeSchema: placeSchemaOfAll(sites.flatMap(itemSites)) }).placeSchema,
  };
}

function membersNamedIn(sites: readonly Site[], list: 'required' | 'x-expected'): readonly NamedMember[] {
  return sites.flatMap(({ path, schema, alternative }) =>
    alternative === true ? [] : (schema[list] ?? []).map((name) => ({ path, name })),
  );
}

/** Returns the lists of types that apply to a value. The value must match one type from each list. */
function typesOf(sites: readonly Site[]): readonly (readonly string[])[] {
  return sites.flatMap(({ schema, alternative }) => {
    const types = typeOf(schema);
    return alternative === true || types === undefined ? [] : [[types].flat()];
  });
}

/** Returns the type or types that a schema requires or expects. Undefined if it describes none. */
export const typeOf = (schema: SchemaObject): SchemaObject['type'] => schema.type ?? schema['x-expected-type'];

/** A schema and its JSONPath in the document. */
export interface Site {
  readonly path: string;
  readonly schema: SchemaObject;
  /** True if the schema is one of several alternatives. A value does not have to match such a schema. */
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
  const parts = innerSchemas(schema)
    .filter(isCombined)
    .flatMap(({ keyword, key, schema: part }): Site[] =>
      typeof part === 'boolean'
        ? []
        : [{ path: `${path}.${keyword}[${key}]`, schema: part, alternative: alternative || keyword !== 'allOf' }],
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
function restSites({ path, schema }: Site): Site[] {
  const rest = schema['additionalProperties'];
  if (typeof rest !== 'object' || rest === null) return [];
  return [{ path: `${path}.additionalProperties`, schema: rest }];
}

/** Returns the schema for array elements as a list. The list is empty if there is no such schema. */
export function itemSites({ path, schema: { items } }: Site): Site[] {
  return typeof items === 'object' ? [{ path: `${path}.items`, schema: items }] : [];
}

/** Returns the names of all members that the schemas describe. */
export function memberNames(sites: readonly Site[]): ReadonlySet<string> {
  return new Set(sites.flatMap(({ schema }) => Object.keys(schema.properties ?? {})));
}

import { confidenceOf } from '../confidence.ts';
import { type DocumentNode, nodeAt, placeName, type SchemaNode, splitPath } from '../document.ts';
import type { DescribedObjects, Observations } from '../observations/observations.ts';
import { type FieldShape, isAlwaysPresent, kindsOf, type Shape } from '../shape/shape.ts';
import { flatten, memberSites } from '../place-schema.ts';
import type { OverlayAction, Proposal } from './proposal.ts';
import {
  evidenceOf,
  objectKeywords,
  type ProposedSchema,
  schemaWords,
  HIGH_CONFIDENCE,
  toSchema,
} from './propose-shapes.ts';

/** Proposes descriptions for undocumented members. */
export function proposeFields({ described }: Observations, document: DocumentNode, minResponses: number): Proposal[] {
  return [...described].flatMap(([path, seen]) => {
    const schema = nodeAt(document, path) as SchemaNode | undefined;
    if (schema === undefined) return [];
    const sites = flatten(document, { path, schema });
    const known = new Set(sites.flatMap((site) => Object.keys(site.schema.properties ?? {})));
    const owner = { path, schema, seen, requires: schema.required !== undefined };
    const fields = [...seen.objects.fields].filter(
      ([name, { shape }]) => !known.has(name) && shape.answers >= minResponses,
    );
    const named = fields.map(([name, field]) => proposeField(owner, name, field));
    return [named, sites.length === 1 ? proposeMapKeys(owner, minResponses) : []].flat();
  });
}

interface Owner {
  readonly path: string;
  readonly schema: SchemaNode;
  readonly seen: DescribedObjects;
  /** True if the schema has a list of required members that can be extended. */
  requires: boolean;
}

function proposeField(owner: Owner, name: string, seenField: FieldShape): Proposal {
  const { path, schema, seen } = owner;
  const { shape } = seenField;
  const place = `${placeName(path)}.${name}`;
  const field = toSchema(shape, name);
  const of = seen.objects.seen;
  const required =
    isAlwaysPresent(seenField, seen.objects) && confidenceOf(of, seen.objects.answers) >= HIGH_CONFIDENCE;
  const update = {
    ...(schema.type === undefined && { type: 'object' }),
    ...(required && !owner.requires && { required: [name] }),
    properties: { [name]: { ...field, 'x-provenance': 'observed' } },
  };
  const actions: OverlayAction[] = [{ target: path, description: `${place}: an undocumented field`, update }];
  if (required && owner.requires)
    actions.push({ target: `${path}.required`, description: `${place} was always present`, update: name });
  owner.requires ||= required;
  return {
    kind: 'field',
    place,
    statement: `exists and is ${schemaWords(field)}${required ? ', always present' : ''}`,
    confidence: confidenceOf(shape.seen, shape.answers),
    evidence: { ...evidenceOf(shape), of: Math.max(of, shape.seen) },
    actions,
  };
}

/**
 * Proposes descriptions for maps, which are objects whose member names are data. Must not be called for a schema that
 * is combined with others, because `additionalProperties` would also apply to the members described by the other
 * schemas.
 */
function proposeMapKeys({ path, seen }: Owner, minResponses: number): Proposal[] {
  const { rest } = seen.objects;
  if (rest === undefined || rest.answers < minResponses) return [];
  const { additionalProperties } = objectKeywords({ ...seen.objects, fields: new Map() });
  const place = placeName(path);
  return [
    {
      kind: 'field',
      place: `${place}.*`,
      statement: 'has members whose names are data',
      confidence: confidenceOf(rest.seen, rest.answers),
      evidence: evidenceOf(rest),
      actions: [
        { target: path, description: `${place}: members whose names are data`, update: { additionalProperties } },
      ],
    },
  ];
}

/**
 * Proposes schemas for responses without an envelope and for responses whose envelope differs from the documented
 * one.
 */
export function proposeEnvelopes({ envelopes }: Observations, document: DocumentNode): Proposal[] {
  return [...envelopes].flatMap(([path, shape]): Proposal[] => {
    const schema = nodeAt(document, path) as SchemaNode | undefined;
    const found = schema === undefined ? undefined : schemaOf(shape, itemsOf(document, { path, schema }));
    if (schema === undefined || found === undefined || isAllowed(schema, found)) return [];
    const place = responseName(path);
    return [
      {
        kind: 'envelope',
        place,
        statement: `is also ${schemaWords(found)}`,
        confidence: confidenceOf(shape.seen, shape.answers),
        evidence: evidenceOf(shape),
        actions: actionsOf(path, schema, found, place),
      },
    ];
  });
}

/** Returns whether the contract or an overlay already has an alternative that accepts the sampled schema. */
function isAllowed({ anyOf = [] }: SchemaNode, found: ProposedSchema): boolean {
  return anyOf.some((one) => {
    if (typeof one === 'boolean' || one.type === undefined || one.type !== found['type']) return false;
    const always: readonly unknown[] = Array.isArray(found['required']) ? found['required'] : [];
    return (one.required ?? []).every((name) => always.includes(name));
  });
}

/**
 * Returns the method and path, such as `GET /services/v2/question.json`, for a response that belongs to a single
 * operation, and the readable path for any other response.
 */
function responseName(path: string): string {
  const [, address, method = ''] = /^\$\.paths\['([^']+)'\]\.([a-z]+)\./.exec(path) ?? [];
  return address === undefined ? placeName(path) : `${method.toUpperCase()} ${address}`;
}

/** Returns the schema of the items in an envelope, and the names of their fields. */
function itemsOf(document: DocumentNode, site: { readonly path: string; readonly schema: SchemaNode }) {
  const sites = flatten(document, site).flatMap((one) => ['list', 'actions'].flatMap((name) => memberSites(one, name)));
  const [items] = sites.flatMap(({ schema }): SchemaNode[] => (typeof schema.items === 'object' ? [schema.items] : []));
  if (items === undefined) return undefined;
  const parts = flatten(document, { path: `${site.path}.items`, schema: items });
  return { schema: items, names: new Set(parts.flatMap(({ schema }) => Object.keys(schema.properties ?? {}))) };
}

/** Returns a schema for the sampled responses, or undefined if the schema would accept almost any response. */
function schemaOf(shape: Shape, items: ReturnType<typeof itemsOf>): ProposedSchema | undefined {
  const { arrays, objects } = shape;
  if (shape.cut || kindsOf(shape).length !== 1) return undefined;
  const fields = [...(arrays?.items.objects?.fields.keys() ?? [])];
  if (
    items !== undefined &&
    fields.length > 0 &&
    fields.filter((name) => items.names.has(name)).length > fields.length / 2
  )
    return { type: 'array', items: items.schema };
  const schema = toSchema(shape);
  if (objects === undefined) return schema;
  const always = [...objects.fields].filter(([, field]) => isAlwaysPresent(field, objects)).map(([name]) => name);
  return always.length === 0 ? undefined : { ...schema, required: always.toSorted() };
}

/**
 * Returns the actions for a response. The list is empty if the variants of the response are defined elsewhere, in which
 * case an operator must choose the variant to change.
 */
function actionsOf(path: string, schema: SchemaNode, found: ProposedSchema, place: string): OverlayAction[] {
  const { parent, name } = splitPath(path);
  if (name !== 'schema' || schema['anyOf'] !== undefined) return [];
  return [
    { target: path, description: `${place}: removed, because the next action replaces it`, remove: true },
    {
      target: parent,
      description: `${place}: the sampled responses as an alternative`,
      update: { schema: { anyOf: [schema, found] } },
    },
  ];
}

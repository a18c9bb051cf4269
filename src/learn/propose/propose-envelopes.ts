import { type DocumentNode, nodeAt, placeName, type SchemaNode, splitPath } from '../document.ts';
import { flatten, memberSites } from '../sites.ts';
import { confidenceOf } from '../confidence.ts';
import type { Observations } from '../observations/observations.ts';
import type { OverlayAction, Proposal } from './proposal.ts';
import { evidenceOf, schemaWords } from './propose-shapes.ts';
import { kindsOf, type Shape } from '../shape/shape.ts';
import { type ProposedSchema, toSchema } from './to-schema.ts';

/** Proposes schemas for responses with a different envelope than documented, or without one. */
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

/** Returns true if an alternative in the contract, for example from an overlay, already accepts the sampled schema. */
function isAllowed({ anyOf = [] }: SchemaNode, found: ProposedSchema): boolean {
  return anyOf.some((one) => {
    if (typeof one === 'boolean' || one.type === undefined || one.type !== found['type']) return false;
    const always: readonly unknown[] = Array.isArray(found['required']) ? found['required'] : [];
    return (one.required ?? []).every((name) => always.includes(name));
  });
}

/** Returns `GET /services/v2/question.json` for the response of one operation, otherwise the readable path. */
function responseName(path: string): string {
  const [, address, method = ''] = /^\$\.paths\['([^']+)'\]\.([a-z]+)\./.exec(path) ?? [];
  return address === undefined ? placeName(path) : `${method.toUpperCase()} ${address}`;
}

/** Returns the schema of the items in an envelope's list, and the names of their fields. */
function itemsOf(document: DocumentNode, site: { readonly path: string; readonly schema: SchemaNode }) {
  const sites = flatten(document, site).flatMap((one) => ['list', 'actions'].flatMap((name) => memberSites(one, name)));
  const [items] = sites.flatMap(({ schema }): SchemaNode[] => (typeof schema.items === 'object' ? [schema.items] : []));
  if (items === undefined) return undefined;
  const parts = flatten(document, { path: `${site.path}.items`, schema: items });
  return { schema: items, names: new Set(parts.flatMap(({ schema }) => Object.keys(schema.properties ?? {}))) };
}

/** Returns the schema of the sampled responses; undefined if it would accept almost any response. */
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
  const always = [...objects.fields].filter(([, { present }]) => present === objects.seen).map(([name]) => name);
  return always.length === 0 ? undefined : { ...schema, required: always.toSorted() };
}

/** Returns no actions for a response whose variants are named elsewhere: a person must choose one of them. */
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

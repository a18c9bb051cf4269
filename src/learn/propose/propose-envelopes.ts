import { type DocumentNode, nodeAt, placeName, type SchemaNode, splitPath } from '../document.ts';
import { flatten, memberSites } from '../sites.ts';
import { confidenceOf } from '../confidence.ts';
import type { Observations } from '../observations/observations.ts';
import type { OverlayAction, Proposal } from './proposal.ts';
import { evidenceOf, schemaWords } from './propose-shapes.ts';
import { kindsOf, type Shape } from '../shape/shape.ts';
import { type ProposedSchema, toSchema } from './to-schema.ts';

/** Proposals about answers that come in another envelope than the contract says, or without one. */
export function proposeEnvelopes({ envelopes }: Observations, document: DocumentNode): Proposal[] {
  return [...envelopes].flatMap(([path, shape]): Proposal[] => {
    const schema = nodeAt(document, path) as SchemaNode | undefined;
    const found = schema === undefined ? undefined : schemaOf(shape, itemsOf(document, { path, schema }));
    if (schema === undefined || found === undefined || isAllowed(schema, found)) return [];
    const place = answerName(path);
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

/** True where an alternative of the contract, such as an overlay wrote it, lets in what was found. */
function isAllowed({ anyOf = [] }: SchemaNode, found: ProposedSchema): boolean {
  return anyOf.some((one) => {
    if (typeof one === 'boolean' || one.type === undefined || one.type !== found['type']) return false;
    const always: readonly unknown[] = Array.isArray(found['required']) ? found['required'] : [];
    return (one.required ?? []).every((name) => always.includes(name));
  });
}

/** `GET /services/v2/question.json`, where the path leads to an answer of its own. */
function answerName(path: string): string {
  const [, address, method = ''] = /^\$\.paths\['([^']+)'\]\.([a-z]+)\./.exec(path) ?? [];
  return address === undefined ? placeName(path) : `${method.toUpperCase()} ${address}`;
}

/** What the lists of an envelope hold, by the names that they have there. */
function itemsOf(document: DocumentNode, site: { readonly path: string; readonly schema: SchemaNode }) {
  const sites = flatten(document, site).flatMap((one) => ['list', 'actions'].flatMap((name) => memberSites(one, name)));
  const [items] = sites.flatMap(({ schema }): SchemaNode[] => (typeof schema.items === 'object' ? [schema.items] : []));
  if (items === undefined) return undefined;
  const parts = flatten(document, { path: `${site.path}.items`, schema: items });
  return { schema: items, names: new Set(parts.flatMap(({ schema }) => Object.keys(schema.properties ?? {}))) };
}

/** The schema of what came instead: undefined where it would say so little that every answer kept to it. */
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

/** An answer whose variants are named elsewhere is left alone: a person decides which of them it is. */
function actionsOf(path: string, schema: SchemaNode, found: ProposedSchema, place: string): OverlayAction[] {
  const { parent, name } = splitPath(path);
  if (name !== 'schema' || schema['anyOf'] !== undefined) return [];
  return [
    { target: path, description: `${place}: the next action writes it anew`, remove: true },
    {
      target: parent,
      description: `${place}: what was answered in place of it`,
      update: { schema: { anyOf: [schema, found] } },
    },
  ];
}

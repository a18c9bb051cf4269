import { supportOf } from '../confidence.ts';
import type { SchemaObject } from '../../../engine/contract/openapi-document.ts';
import { type DocumentNode, nodeAt, splitPath } from '../../../learner/document.ts';
import type { Observations } from '../../../learner/observations/observations.ts';
import { flatten, itemSites, memberNames, memberSites, type Site } from '../../../learner/place-schema.ts';
import { alwaysPresent, kindsOf, type Shape } from '../../../learner/shape/shape.ts';
import { placeName, type Proposal, replaceNode } from './proposal.ts';
import { type ProposedSchema, schemaWords, toSchema } from './proposed-schema.ts';

/** Proposes schemas for responses without an envelope or with an envelope that differs from the documented one. */
export function proposeEnvelopes({ envelopes }: Observations, document: DocumentNode): Proposal[] {
  return [...envelopes].flatMap(([path, shape]): Proposal[] => {
    const schema = nodeAt(document, path) as SchemaObject | undefined;
    if (schema === undefined) return [];
    const found = schemaOf(shape, itemsOf(document, { path, schema }));
    if (found === undefined || isAllowed(schema, found)) return [];
    const place = responseName(path);
    // If the variants of the response are defined elsewhere, an operator must choose the variant to change.
    const hasVariants = splitPath(path).name !== 'schema' || schema.anyOf !== undefined;
    const change = 'the sampled responses as an alternative';
    return [
      {
        kind: 'envelope',
        place,
        statement: `is also ${schemaWords(found, shape)}`,
        ...supportOf(shape),
        actions: hasVariants ? [] : replaceNode(path, { anyOf: [schema, found] }, place, change),
      },
    ];
  });
}

/** Returns whether the contract or an overlay already has an alternative that allows the sampled responses. */
function isAllowed({ anyOf = [] }: SchemaObject, found: ProposedSchema): boolean {
  return anyOf.some((one) => {
    if (typeof one === 'boolean' || one.type === undefined || one.type !== found['type']) return false;
    const always: readonly unknown[] = Array.isArray(found['required']) ? found['required'] : [];
    return (one.required ?? []).every((name) => always.includes(name));
  });
}

/**
 * Describes the location of a response: the method and path, such as `GET /services/v2/question.json`, if it belongs to
 * a single operation, and the readable path otherwise.
 */
function responseName(path: string): string {
  const [, address, method = ''] = /^\$\.paths\['([^']+)'\]\.([a-z]+)\./.exec(path) ?? [];
  return address === undefined ? placeName(path) : `${method.toUpperCase()} ${address}`;
}

/** Returns the schema of the items in an envelope, and the names of their fields. */
function itemsOf(document: DocumentNode, site: Site) {
  const lists = flatten(document, site).flatMap((one) => ['list', 'actions'].flatMap((name) => memberSites(one, name)));
  const [items] = lists.flatMap(itemSites);
  return items && { schema: items.schema, names: memberNames(flatten(document, items)) };
}

const isContainer = (shape: Shape | undefined) => (shape?.arrays ?? shape?.objects) !== undefined;

/** Returns a schema for the sampled responses, or undefined if the schema would accept almost any response. */
function schemaOf(shape: Shape, items: ReturnType<typeof itemsOf>): ProposedSchema | undefined {
  const { arrays, objects } = shape;
  if (shape.cut || kindsOf(shape).length !== 1) return undefined;
  const fields = [...(arrays?.items.objects?.fields.keys() ?? [])];
  const known = fields.filter((name) => items?.names.has(name));
  if (items !== undefined && known.length > fields.length / 2) return { type: 'array', items: items.schema };
  const schema = toSchema(shape);
  if (objects === undefined) return schema;
  // Of the members, only those that can contain the items are required, because a client cannot do without them. An
  // alternative without a required member would accept every object.
  const always = alwaysPresent(objects);
  const containers = always.filter((name) => isContainer(objects.fields.get(name)?.shape));
  const required = containers.length > 0 ? containers : always.slice(0, 1);
  return required.length === 0 ? undefined : { ...schema, required };
}

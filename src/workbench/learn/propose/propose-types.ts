import { supportOf } from '../confidence.ts';
import type { SchemaObject } from '../../../engine/contract/openapi-document.ts';
import { type DocumentNode, nodeAt, splitPath } from '../../../learner/document.ts';
import type { Observations } from '../../../learner/observations/observations.ts';
import { flatten, typeOf } from '../../../learner/place-schema.ts';
import { kindsOf } from '../../../learner/shape/shape.ts';
import { type OverlayAction, placeName, type Proposal, replaceNode } from './proposal.ts';
import { type ProposedSchema, schemaWords, toSchema } from './proposed-schema.ts';

/** Proposes additional types for fields whose values did not have the documented type. */
export function proposeTypes({ mistyped }: Observations, document: DocumentNode): Proposal[] {
  return [...mistyped].flatMap(([path, shape]): Proposal[] => {
    const schema = nodeAt(document, path) as SchemaObject | undefined;
    if (schema === undefined || schema['const'] !== undefined || schema.enum !== undefined) return [];
    const documented = new Set(
      flatten(document, { path, schema }).flatMap((site) => [typeOf(site.schema) ?? []].flat()),
    );
    const fresh = kindsOf(shape).filter((kind) => !documented.has(kind));
    if (fresh.length === 0) return [];
    const found = toSchema(shape, splitPath(path).name);
    return [
      {
        kind: 'type',
        place: placeName(path),
        statement: `is also ${fresh.length === 1 ? schemaWords(found, shape) : fresh.join(' or ')}, in addition to ${[...documented].join(' or ')}`,
        ...supportOf(shape),
        actions: widen(path, schema, found, [...documented, ...fresh]),
      },
    ];
  });
}

/** Returns the actions that add types. `types` consists of the documented types and the additional types. */
function widen(path: string, schema: SchemaObject, found: ProposedSchema, types: readonly string[]): OverlayAction[] {
  const place = placeName(path);
  const change = 'a type in addition to the documented one';
  if (schema.$ref !== undefined) return replaceNode(path, { anyOf: [schema, found] }, place, change);
  const keyword = schema.type === undefined ? 'x-expected-type' : 'type';
  const update = { ...compatibleKeywords(schema, found), [keyword]: types };
  return typeof schema[keyword] === 'string'
    ? [{ target: path, description: `${place}: ${change}`, update }]
    : replaceNode(path, { ...schema, ...update }, place, change);
}

/** The keywords that are safe to add: those that do not affect values of other types, and `x-pii`. */
const SAFE_KEYWORDS = new Set(['x-expected', 'properties', 'additionalProperties', 'items', 'x-pii']);

/**
 * Returns the keywords of the additional type that can be added to the schema without restricting values of the
 * documented type.
 */
function compatibleKeywords(schema: SchemaObject, found: ProposedSchema): ProposedSchema {
  return Object.fromEntries(
    Object.entries(found).filter(([keyword]) => SAFE_KEYWORDS.has(keyword) && schema[keyword] === undefined),
  );
}

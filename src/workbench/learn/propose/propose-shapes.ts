import { supportOf } from '../confidence.ts';
import type { SchemaObject } from '../../../engine/contract/openapi-document.ts';
import { type DocumentNode, nodeAt } from '../../../learner/document.ts';
import type { Observations } from '../../../learner/observations/observations.ts';
import { referenced } from '../../../learner/place-schema.ts';
import { type OverlayAction, placeName, type Proposal, replaceNode } from './proposal.ts';
import { type ProposedSchema, schemaWords, toSchema } from './proposed-schema.ts';

/** Proposes schemas for places that the contract does not describe fully. */
export function proposeShapes({ open }: Observations, document: DocumentNode): Proposal[] {
  const taken = new Set(Object.keys(document.components.schemas));
  return [...open].flatMap(([path, shape]): Proposal[] => {
    const node = nodeAt(document, path) as SchemaObject | undefined;
    const schema = toSchema(shape);
    if (node === undefined || Object.keys(schema).length === 0) return [];
    if (node.$ref !== undefined && !leavesOpen(document, node.$ref)) return [];
    const place = placeName(path);
    const update = { ...schema, 'x-provenance': 'observed' };
    return [
      {
        kind: 'shape',
        place,
        statement: `is ${schemaWords(schema, shape)}`,
        ...supportOf(shape),
        actions: node.$ref === undefined ? withShape(path, node, update) : asComponent(path, place, schema, taken),
      },
    ];
  });
}

/**
 * Returns actions that add the sampled shape to a place. If the place has an expected type, its schema is replaced,
 * because the type in the sampled shape takes the place of the expected one, and an overlay cannot remove a string.
 */
function withShape(path: string, node: SchemaObject, shape: ProposedSchema): OverlayAction[] {
  const place = placeName(path);
  const { 'x-expected-type': expectedType, ...others } = node;
  return expectedType === undefined
    ? [{ target: path, description: `${place}: the sampled shape`, update: shape }]
    : replaceNode(path, { ...others, ...shape }, place, 'the sampled shape');
}

/** Returns whether a reference points to a schema that does not describe its values. */
function leavesOpen(document: DocumentNode, reference: string): boolean {
  const schema = referenced(document, reference)?.schema;
  return schema !== undefined && ['type', '$ref', 'allOf', 'anyOf', 'enum'].every((keyword) => !(keyword in schema));
}

/** Returns actions that give one place a new component instead of the one that all undescribed values share. */
function asComponent(path: string, place: string, schema: ProposedSchema, taken: Set<string>): OverlayAction[] {
  const name = freeName(componentName(place), taken);
  taken.add(name);
  const component = { description: `The sampled values of ${place}.`, 'x-provenance': 'observed', ...schema };
  return [
    { target: '$.components.schemas', description: `${place}: the sampled shape`, update: { [name]: component } },
    {
      target: path,
      description: `${place} refers to the new component`,
      update: { $ref: `#/components/schemas/${name}` },
    },
  ];
}

/** Converts the readable name of a place to a component name, for example `Node.attachments[]` to `NodeAttachment`. */
export function componentName(place: string): string {
  const words = place.replaceAll(/s?\[\]/g, '').match(/[A-Za-z0-9]+/g) ?? ['Learned'];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** Returns the name, or the name with a number appended if it is already in use. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}${number}`;
  return free;
}

import { supportOf } from '../confidence.ts';
import { childPath, type DocumentNode, nodeAt, type SchemaNode } from '../document.ts';
import type { Observations } from '../observations/observations.ts';
import { referenced } from '../place-schema.ts';
import { type OverlayAction, placeName, type Proposal } from './proposal.ts';
import { type ProposedSchema, schemaWords, toSchema } from './proposed-schema.ts';

/** Proposes schemas for places that the contract does not describe fully. */
export function proposeShapes({ open }: Observations, document: DocumentNode): Proposal[] {
  const taken = new Set(Object.keys(document.components.schemas));
  return [...open].flatMap(([path, shape]): Proposal[] => {
    const node = nodeAt(document, path) as SchemaNode | undefined;
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
        actions:
          node.$ref === undefined
            ? [
                ...withoutExpectedType(path, node, place),
                { target: path, description: `${place}: the sampled shape`, update },
              ]
            : asComponent(path, place, schema, taken),
      },
    ];
  });
}

/** Returns actions that remove an expected type, because the type in the sampled shape replaces it. */
function withoutExpectedType(path: string, node: SchemaNode, place: string): OverlayAction[] {
  if (node['x-expected-type'] === undefined) return [];
  const description = `${place}: removed, because the next action states the type`;
  return [{ target: childPath(path, 'x-expected-type'), description, remove: true }];
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

import { confidenceOf } from '../confidence.ts';
import { type DocumentNode, nodeAt, placeName, type SchemaNode } from '../document.ts';
import type { Observations } from '../observations/observations.ts';
import type { Shape } from '../shape/shape.ts';
import type { Evidence, OverlayAction, Proposal } from './proposal.ts';
import { type ProposedSchema, toSchema } from './to-schema.ts';

/** Returns the counts of a shape as evidence. */
export function evidenceOf({ seen, answers, firstSeenAt, lastSeenAt }: Shape): Evidence {
  return { seen, answers, firstSeenAt, lastSeenAt };
}

/** Proposes schemas for places that the contract leaves open. */
export function proposeShapes({ open }: Observations, document: DocumentNode): Proposal[] {
  const taken = new Set(Object.keys(document.components.schemas));
  return [...open].flatMap(([path, shape]): Proposal[] => {
    const node = nodeAt(document, path) as SchemaNode | undefined;
    const schema = toSchema(shape);
    if (node === undefined || Object.keys(schema).length === 0) return [];
    if (node.$ref !== undefined && !leavesOpen(document, node.$ref)) return [];
    return [
      {
        kind: 'shape',
        place: placeName(path),
        statement: `is ${schemaWords(schema)}`,
        confidence: confidenceOf(shape.seen, shape.answers),
        evidence: evidenceOf(shape),
        actions: node.$ref === undefined ? [inPlace(path, schema)] : asComponent(path, schema, taken),
      },
    ];
  });
}

function leavesOpen({ components }: DocumentNode, reference: string): boolean {
  const schema = components.schemas[reference.split('/').at(-1) ?? ''];
  return schema !== undefined && ['type', '$ref', 'allOf', 'anyOf', 'enum'].every((keyword) => !(keyword in schema));
}

function inPlace(path: string, schema: ProposedSchema): OverlayAction {
  const name = placeName(path);
  return {
    target: path,
    description: `${name}: the sampled shape`,
    update: { ...schema, 'x-provenance': 'observed' },
  };
}

/** Returns actions that add a new component, because the place refers to a shared one for everything undescribed. */
function asComponent(path: string, schema: ProposedSchema, taken: Set<string>): OverlayAction[] {
  const place = placeName(path);
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

/** Converts a place to the name of a component: `Node.attachments[]` → `NodeAttachment`. */
export function componentName(place: string): string {
  const words = place.replaceAll(/s?\[\]/g, '').match(/[A-Za-z0-9]+/g) ?? ['Learned'];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** Returns the name, with a number appended if it is taken. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}${number}`;
  return free;
}

/** Describes a proposed schema in a few words: `object with 3 fields (id, name; sometimes size)`. */
export function schemaWords(schema: ProposedSchema): string {
  const { type, properties, required, items, additionalProperties, $ref } = schema;
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? '';
  if (type === undefined) return 'anything';
  if (Array.isArray(type)) return (type as readonly string[]).join(' or ');
  if (type === 'array') return items === undefined ? 'array' : `array of ${schemaWords(items as ProposedSchema)}`;
  if (typeof type !== 'string') return 'anything';
  if (type !== 'object') return ['format', 'x-pii'].reduce((words, key) => words + note(schema[key]), type);
  const names = Object.keys(properties ?? {});
  if (names.length === 0)
    return additionalProperties === undefined
      ? 'object'
      : `map with data as keys and values of type ${valueWords(additionalProperties)}`;
  const always = names.filter((name) => ((required ?? []) as readonly string[]).includes(name));
  const sometimes = names.filter((name) => !always.includes(name));
  const parts = [listed(always), sometimes.length === 0 ? '' : `sometimes ${listed(sometimes)}`];
  return `object with ${names.length} ${names.length === 1 ? 'field' : 'fields'} (${parts.filter((part) => part !== '').join('; ')})`;
}

const MAX_LISTED = 12;

function listed(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  return more > 1 ? `${names.slice(0, MAX_LISTED).join(', ')} and ${more} more` : names.join(', ');
}

const note = (word: unknown) => (typeof word === 'string' ? `, ${word}` : '');

function valueWords(schema: unknown): string {
  return typeof schema === 'object' && schema !== null ? schemaWords(schema as ProposedSchema) : 'anything';
}

import { confidenceOf } from '../confidence.ts';
import { type DocumentNode, nodeAt, placeName, type SchemaNode } from '../document.ts';
import type { Observations } from '../observations/observations.ts';
import type { Shape } from '../shape/shape.ts';
import type { Evidence, OverlayAction, Proposal } from './proposal.ts';
import { type ProposedSchema, toSchema } from './to-schema.ts';

/** The evidence that a shape is. */
export function evidenceOf({ seen, answers, firstSeenAt, lastSeenAt }: Shape): Evidence {
  return { seen, answers, firstSeenAt, lastSeenAt };
}

/** Proposals about places that the contract leaves open. */
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
    description: `${name}: the shape that was seen`,
    update: { ...schema, 'x-provenance': 'observed' },
  };
}

/** A component of its own, because the place points to one that stands for everything that was not shown. */
function asComponent(path: string, schema: ProposedSchema, taken: Set<string>): OverlayAction[] {
  const place = placeName(path);
  const name = freeName(componentName(place), taken);
  taken.add(name);
  const component = { description: `What ${place} holds, as it was seen.`, 'x-provenance': 'observed', ...schema };
  return [
    { target: '$.components.schemas', description: `${place}: the shape that was seen`, update: { [name]: component } },
    { target: path, description: `${place} points to it`, update: { $ref: `#/components/schemas/${name}` } },
  ];
}

/** `Node.attachments[]` → `NodeAttachment`. */
export function componentName(place: string): string {
  const words = place.replaceAll(/s?\[\]/g, '').match(/[A-Za-z0-9]+/g) ?? ['Learned'];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** The name, or the name with a number where it is taken. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}${number}`;
  return free;
}

/** A proposed schema in a few words, for a table: `object of 3 fields (id, name; sometimes size)`. */
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
      : 'map, whose keys are data, of ' + valueWords(additionalProperties);
  const always = names.filter((name) => ((required ?? []) as readonly string[]).includes(name));
  const sometimes = names.filter((name) => !always.includes(name));
  const parts = [listed(always), sometimes.length === 0 ? '' : `perhaps ${listed(sometimes)}`];
  return `object of ${names.length} ${names.length === 1 ? 'field' : 'fields'} (${parts.filter((part) => part !== '').join('; ')})`;
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

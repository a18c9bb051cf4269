import { type PersonalMark, personalName } from '../../privacy/personal-text.ts';
import { confidenceOf } from '../confidence.ts';
import { type DocumentNode, nodeAt, placeName, type SchemaNode } from '../document.ts';
import type { Observations } from '../observations/observations.ts';
import {
  mergeShapes,
  type IntegerCounts,
  isAlwaysPresent,
  kindsOf,
  type ObjectCounts,
  type Shape,
  type TextCounts,
} from '../shape/shape.ts';
import { formPattern, type TextForm } from '../shape/text-form.ts';
import type { Evidence, OverlayAction, Proposal } from './proposal.ts';

/** Converts the counts of a shape to evidence. */
export function evidenceOf({ seen, answers, firstSeenAt, lastSeenAt }: Shape): Evidence {
  return { seen, answers, firstSeenAt, lastSeenAt };
}

/** Proposes schemas for places that the contract does not describe fully. */
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

/**
 * Returns actions that add a component for one place. Without these actions, the place refers to the component that all
 * undescribed values share.
 */
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

/** Converts the readable name of a place to a component name, for example `Node.attachments[]` to `NodeAttachment`. */
export function componentName(place: string): string {
  const words = place.replaceAll(/s?\[\]/g, '').match(/[A-Za-z0-9]+/g) ?? ['Learned'];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** Returns the name, or the name with a number appended if it is already used. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}${number}`;
  return free;
}

/** Describes a proposed schema in a few words, for example `object with 3 fields (id, name; sometimes size)`. */
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

/** A schema in a proposal. */
export type ProposedSchema = Readonly<Record<string, unknown>>;

/** The minimum confidence for proposing a required field or a pattern. */
export const HIGH_CONFIDENCE = 0.85;

const FORMATS: Partial<Record<TextForm, string>> = {
  'date-time': 'date-time',
  date: 'date',
  uuid: 'uuid',
  url: 'uri',
  'e-mail': 'email',
};

/** Returns a schema that accepts all sampled values. `name` is the field's name, which may indicate personal data. */
export function toSchema(shape: Shape, name = ''): ProposedSchema {
  const kinds = kindsOf(shape);
  const [only] = kinds;
  if (shape.cut || only === undefined) return {};
  // In JSON Schema, the type `number` includes integers.
  const types = kinds.includes('number') ? kinds.filter((kind) => kind !== 'integer') : kinds;
  const mark = personalMark(name, shape);
  return {
    type: types.length === 1 ? types[0] : types,
    ...(shape.integers !== undefined && shape.fractions === 0 && integerKeywords(shape.integers, name)),
    ...(shape.texts && textKeywords(shape.texts, shape.answers, mark !== undefined)),
    ...(shape.arrays && arrayKeywords(shape.arrays.items, name)),
    ...(shape.objects && objectKeywords(shape.objects)),
    ...(mark && { 'x-pii': mark }),
  };
}

/**
 * Returns the kind of personal data that a field's name or the form of its strings suggests, or undefined if there is
 * none.
 */
function personalMark(name: string, { texts }: Shape): PersonalMark | undefined {
  if (texts === undefined) return undefined;
  const { forms } = texts;
  if ((forms['e-mail'] ?? 0) > 0) return 'email';
  if ((forms.ip ?? 0) > 0 && (forms.ip ?? 0) >= texts.seen / 2) return 'ip';
  if ((forms.phone ?? 0) > 0 && (forms.phone ?? 0) >= texts.seen / 2) return 'phone';
  return personalName(name) ?? ((forms.secret ?? 0) > 0 ? 'secret' : undefined);
}

function integerKeywords({ seen, wide, instants }: IntegerCounts, name: string): ProposedSchema {
  return {
    // Ids are 64-bit integers, even if all sampled ids happened to be small.
    ...((wide > 0 || /^id$|Ids?$/.test(name)) && { format: 'int64' }),
    ...(instants === seen && { description: 'Milliseconds since the Unix epoch.' }),
  };
}

function textKeywords({ seen, forms }: TextCounts, responses: number, personal: boolean): ProposedSchema {
  const [form] = Object.keys(forms) as TextForm[];
  if (form === undefined || forms[form] !== seen || personal) return {};
  const pattern = confidenceOf(seen, responses) >= HIGH_CONFIDENCE ? formPattern(form) : undefined;
  return {
    ...(FORMATS[form] && { format: FORMATS[form] }),
    ...(pattern && { pattern }),
    ...(form === 'html' && { description: 'HTML.' }),
  };
}

function arrayKeywords(items: Shape, name: string): ProposedSchema {
  const schema = toSchema(items, name);
  return Object.keys(schema).length === 0 ? {} : { items: schema };
}

/**
 * Returns the keywords that describe the members of objects. A member that was always present is required, provided
 * that the confidence is high enough.
 */
export function objectKeywords(counts: ObjectCounts): ProposedSchema {
  const { fields, seen, answers, rest, rare } = counts;
  const names = [...fields.keys()].toSorted();
  const isCertain = confidenceOf(seen, answers) >= HIGH_CONFIDENCE;
  const required = isCertain
    ? [...fields]
        .filter(([, field]) => isAlwaysPresent(field, counts))
        .map(([name]) => name)
        .toSorted()
    : [];
  // A user's slug is derived from the user's name.
  const nameOf = (name: string) => (name === 'slug' && fields.has('username') ? 'username' : name);
  const properties = Object.fromEntries([...fields].map(([name, { shape }]) => [name, toSchema(shape, nameOf(name))]));
  return {
    ...(required.length > 0 && { required }),
    ...(names.length > 0 && { properties }),
    // Names that are data are not listed. Nor are rare members, because their names may also be data.
    ...(rest !== undefined && { additionalProperties: withoutExtras(toSchema(mergeShapes(rest, rare))) }),
  };
}

function withoutExtras(schema: ProposedSchema): ProposedSchema | true {
  return Object.keys(schema).length === 0 ? true : schema;
}

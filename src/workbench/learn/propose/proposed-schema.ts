import { type PersonalMark, personalName } from '../../../engine/privacy/personal-text.ts';
import { confidenceOf } from '../confidence.ts';
import {
  alwaysPresent,
  type IntegerCounts,
  kindsOf,
  mergeShapes,
  type ObjectCounts,
  type Shape,
  type TextCounts,
} from '../../../learner/shape/shape.ts';
import { formPattern, type TextForm } from '../../../learner/shape/text-form.ts';

/** A schema in a proposal. */
export type ProposedSchema = Readonly<Record<string, unknown>>;

/** The minimum confidence for proposing an expected field or an expected form. */
const HIGH_CONFIDENCE = 0.85;

const FORMATS: Partial<Record<TextForm, string>> = {
  'date-time': 'date-time',
  date: 'date',
  uuid: 'uuid',
  url: 'uri',
  'e-mail': 'email',
};

/**
 * Returns a schema that accepts all sampled values. Apart from types, it only states what is expected, because samples
 * cannot show what a server never does. `name` is the field's name, which may indicate personal data.
 */
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
    ...(pattern && { 'x-expected-pattern': pattern }),
    ...(form === 'html' && { description: 'HTML.' }),
  };
}

function arrayKeywords(items: Shape, name: string): ProposedSchema {
  const schema = toSchema(items, name);
  return Object.keys(schema).length === 0 ? {} : { items: schema };
}

/** Returns the keywords that describe the members of objects. */
export function objectKeywords(counts: ObjectCounts): ProposedSchema {
  const { fields, rest, rare } = counts;
  const expected = expectedMembers(counts);
  // A user's slug is derived from the user's name, so it is personal data.
  const nameOf = (name: string) => (name === 'slug' && fields.has('username') ? 'username' : name);
  const properties = Object.fromEntries([...fields].map(([name, { shape }]) => [name, toSchema(shape, nameOf(name))]));
  const others = rest && toSchema(mergeShapes(rest, rare));
  return {
    ...(expected.length > 0 && { 'x-expected': expected }),
    ...(fields.size > 0 && { properties }),
    // Member names that are data are omitted, and so are rare members, because their names may be data.
    ...(others && { additionalProperties: Object.keys(others).length === 0 || others }),
  };
}

/** Returns the members that were always present. The list is empty if the confidence is too low. */
export function expectedMembers(counts: ObjectCounts): string[] {
  return confidenceOf(counts.seen, counts.answers) >= HIGH_CONFIDENCE ? alwaysPresent(counts) : [];
}

/**
 * Describes a proposed schema in a few words, for example `object with 3 fields (id, name; sometimes size)`. `shape`
 * contains the sampled values: a member counts as always present if every sampled object had it, even if there were too
 * few objects to propose that it is expected.
 */
export function schemaWords(schema: ProposedSchema, shape: Shape | undefined): string {
  const { type, properties, 'x-expected': expected, items, additionalProperties, $ref } = schema;
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? '';
  if (type === undefined) return 'anything';
  if (Array.isArray(type)) return (type as readonly string[]).join(' or ');
  if (type === 'array')
    return items === undefined ? 'array' : `array of ${schemaWords(items as ProposedSchema, shape?.arrays?.items)}`;
  if (typeof type !== 'string') return 'anything';
  if (type !== 'object') return ['format', 'x-pii'].reduce((words, key) => words + note(schema[key]), type);
  const names = Object.keys(properties ?? {});
  if (names.length === 0)
    return additionalProperties === undefined
      ? 'object'
      : `map with data as keys and values of type ${valueWords(additionalProperties, shape?.objects?.rest)}`;
  const present = new Set([
    ...((expected ?? []) as readonly string[]),
    ...(shape?.objects ? alwaysPresent(shape.objects) : []),
  ]);
  const always = names.filter((name) => present.has(name));
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

function valueWords(schema: unknown, shape: Shape | undefined): string {
  return typeof schema === 'object' && schema !== null ? schemaWords(schema as ProposedSchema, shape) : 'anything';
}

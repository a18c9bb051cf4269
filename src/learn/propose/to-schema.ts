import { mergeShapes } from '../shape/merge-shapes.ts';
import { type PersonalMark, personalName } from '../../privacy/personal-text.ts';
import { type IntegerCounts, kindsOf, type ObjectCounts, type Shape, type TextCounts } from '../shape/shape.ts';
import { formPattern, type TextForm } from '../shape/text-form.ts';
import { confidenceOf } from '../confidence.ts';

/** A schema in a proposal. */
export type ProposedSchema = Readonly<Record<string, unknown>>;

/** The minimum confidence for proposing a required field or a pattern. */
export const SURE = 0.85;

const FORMATS: Partial<Record<TextForm, string>> = {
  'date-time': 'date-time',
  date: 'date',
  uuid: 'uuid',
  url: 'uri',
  'e-mail': 'email',
};

/** Returns a schema that accepts all sampled values. `name` is the name of the field, which may suggest personal data. */
export function toSchema(shape: Shape, name = ''): ProposedSchema {
  const kinds = kindsOf(shape);
  const [only] = kinds;
  if (shape.cut || only === undefined) return {};
  // Integers are numbers too.
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

/** Returns the personal-data mark that a field's name or the form of its texts suggests. Only texts are marked. */
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
    // Ids have 64 bits, even if all sampled ones were small.
    ...((wide > 0 || /^id$|Ids?$/.test(name)) && { format: 'int64' }),
    ...(instants === seen && { description: 'Milliseconds since the Unix epoch.' }),
  };
}

function textKeywords({ seen, forms }: TextCounts, answers: number, personal: boolean): ProposedSchema {
  const [form] = Object.keys(forms) as TextForm[];
  if (form === undefined || forms[form] !== seen || personal) return {};
  const pattern = confidenceOf(seen, answers) >= SURE ? formPattern(form) : undefined;
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

/** Returns the keywords for the members of objects. A member that was always present is required if the confidence suffices. */
export function objectKeywords(counts: ObjectCounts): ProposedSchema {
  const { fields, seen, answers, rest, rare } = counts;
  const names = [...fields.keys()].toSorted();
  const sure = confidenceOf(seen, answers) >= SURE;
  const required = sure ? names.filter((name) => fields.get(name)?.present === seen) : [];
  // The slug of a user is derived from their name.
  const nameOf = (name: string) => (name === 'slug' && fields.has('username') ? 'username' : name);
  const properties = Object.fromEntries([...fields].map(([name, { shape }]) => [name, toSchema(shape, nameOf(name))]));
  return {
    ...(required.length > 0 && { required }),
    ...(names.length > 0 && { properties }),
    // Keys that are data have no names here, and rare members may be such keys too.
    ...(rest !== undefined && { additionalProperties: withoutExtras(toSchema(mergeShapes(rest, rare))) }),
  };
}

function withoutExtras(schema: ProposedSchema): ProposedSchema | true {
  return Object.keys(schema).length === 0 ? true : schema;
}

import { mergeShapes } from '../shape/merge-shapes.ts';
import { personalMark } from '../shape/personal-field.ts';
import { type IntegerCounts, kindsOf, type ObjectCounts, type Shape, type TextCounts } from '../shape/shape.ts';
import { formPattern, type TextForm } from '../shape/text-form.ts';
import { confidenceOf } from '../confidence.ts';

/** A schema as a proposal writes it. */
export type ProposedSchema = Readonly<Record<string, unknown>>;

/** The confidence with which a field must always have been there to be called required, or a form to be a rule. */
export const SURE = 0.85;

const FORMATS: Partial<Record<TextForm, string>> = {
  'date-time': 'date-time',
  date: 'date',
  uuid: 'uuid',
  url: 'uri',
  'e-mail': 'email',
};

/** The schema that everything seen at a place keeps to; `name` is the field's, for what it suggests of personal data. */
export function toSchema(shape: Shape, name = ''): ProposedSchema {
  const kinds = kindsOf(shape);
  const [only] = kinds;
  if (shape.cut || only === undefined) return {};
  // Whole numbers are numbers.
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

function integerKeywords({ seen, wide, instants }: IntegerCounts, name: string): ProposedSchema {
  return {
    // Ids are 64 bits wide, however small those were that came by.
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

/** The keywords about the members of objects: what is always there is required once that is sure. */
export function objectKeywords(counts: ObjectCounts): ProposedSchema {
  const { fields, seen, answers, rest, rare } = counts;
  const names = [...fields.keys()].toSorted();
  const sure = confidenceOf(seen, answers) >= SURE;
  const required = sure ? names.filter((name) => fields.get(name)?.present === seen) : [];
  // The slug of somebody is made of their name.
  const nameOf = (name: string) => (name === 'slug' && fields.has('username') ? 'username' : name);
  const properties = Object.fromEntries([...fields].map(([name, { shape }]) => [name, toSchema(shape, nameOf(name))]));
  return {
    ...(required.length > 0 && { required }),
    ...(names.length > 0 && { properties }),
    // Keys that are data have no names here, and what is rare may be one more of them.
    ...(rest !== undefined && { additionalProperties: withoutExtras(toSchema(mergeShapes(rest, rare))) }),
  };
}

function withoutExtras(schema: ProposedSchema): ProposedSchema | true {
  return Object.keys(schema).length === 0 ? true : schema;
}

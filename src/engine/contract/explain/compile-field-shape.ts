import { keysOf } from '../../../lib/json-pointer.ts';
import type { SchemaObject, SchemaOrBoolean } from '../openapi-document.ts';
import type { SchemaFiles } from '../generate/generate-schemas.ts';
import { createAlternatives, type PlacedSchema, type Together } from '../schema-alternatives.ts';

/**
 * The fields or elements that an alternative describes. `open` means that the alternative does not restrict them.
 * `none` means that the alternative allows no value that could contain them.
 */
type Described<T> = 'open' | 'none' | T;

interface DescribedFields {
  readonly fields: ReadonlyMap<string, Together>;
  readonly expected: ReadonlyMap<string, SchemaObject>;
  readonly settled: boolean;
}

interface Compilation {
  readonly files: SchemaFiles;
  /**
   * The compiled shapes, keyed by the schemas that apply to a value. Each shape is stored before it is complete so that
   * compiling a recursive schema terminates.
   */
  readonly made: Map<string, FieldShape>;
  readonly ids: Map<SchemaOrBoolean, number>;
}

const compilations = new WeakMap<SchemaFiles, Compilation>();

/** The keywords through which a schema can allow fields that it does not name. */
const BEYOND_NAMES = [
  'patternProperties',
  'unevaluatedProperties',
  'dependentSchemas',
  'if',
  'propertyNames',
  '$dynamicRef',
];
const BEYOND_ITEMS = ['prefixItems', 'unevaluatedItems', 'if', '$dynamicRef'];

/**
 * Compiles the documented fields and the expected forms of a value, at all levels, from the generated schemas. Returns
 * undefined if the contract describes neither.
 */
export function compileFieldShape(files: SchemaFiles, file: string): FieldShape {
  // Many operations return the same resources, so the compiled shapes are cached for each contract.
  const all = compilations.get(files) ?? { files, made: new Map(), ids: new Map() };
  compilations.set(files, all);
  return shapeOf(all, alternativesOf(files, [{ schema: files.get(file) ?? true, path: file }]));
}

function shapeOf(all: Compilation, alternatives: readonly Together[]): FieldShape {
  const key = keyOf(all, alternatives);
  if (all.made.has(key)) return all.made.get(key);
  const shape: ObjectShape = { object: undefined, elements: undefined, forms: [] };
  // The shape is stored before its inner shapes are compiled, because one of them may have the same schema.
  all.made.set(key, shape);
  const described = alternatives.map(fieldsOf).filter((one) => one !== 'none');
  const fields = described.includes('open') ? [] : described.filter((one) => one !== 'open');
  if (fields.length > 0) {
    const inside = Map.groupBy(
      fields.flatMap((one) => [...one.fields]),
      ([name]) => name,
    );
    const inner: InnerField[] = [];
    for (const [name, ways] of inside) {
      const child = shapeOf(
        all,
        ways.flatMap(([, places]) => alternativesOf(all.files, places)),
      );
      if (child !== undefined) inner.push({ name, shape: child });
    }
    const settled = fields.some((one) => one.settled);
    const expected = expectedByAll(fields);
    shape.object = { names: new Set(inside.keys()), expected, settled, inner, order: [...inside.keys()] };
  }
  const items = alternatives.map(itemsOf).filter((one) => one !== 'none');
  if (items.length > 0 && !items.includes('open'))
    shape.elements = shapeOf(
      all,
      items.flatMap((places) => (places === 'open' ? [] : alternativesOf(all.files, places))),
    );
  shape.forms = formsOfAll(alternatives);
  if (shape.object !== undefined || shape.elements !== undefined || shape.forms.length > 0) return shape;
  all.made.set(key, undefined);
  return undefined;
}

const allows = ({ type }: SchemaObject, wanted: string) => type === undefined || [type].flat().includes(wanted);

function fieldsOf(places: Together): Described<DescribedFields> {
  const fields = new Map<string, PlacedSchema[]>();
  const expected = new Map<string, SchemaObject>();
  const required = new Set<string>();
  let settled = false;
  let beyond = false;
  for (const { schema, path } of places) {
    if (schema === false) return 'none';
    if (schema === true) continue;
    if (!allows(schema, 'object') || isNothing(schema)) return 'none';
    settled ||= schema['additionalProperties'] !== undefined;
    beyond ||= BEYOND_NAMES.some((name) => Object.hasOwn(schema, name));
    for (const [name, child] of Object.entries(schema.properties ?? {}))
      fields.set(name, [...(fields.get(name) ?? []), { schema: child, path }]);
    for (const name of schema['x-expected'] ?? []) if (!expected.has(name)) expected.set(name, schema);
    for (const name of schema.required ?? []) required.add(name);
  }
  for (const name of required) expected.delete(name);
  return fields.size === 0 || beyond ? 'open' : { fields, expected, settled };
}

/** Returns the fields that all alternatives expect. */
function expectedByAll(alternatives: readonly DescribedFields[]): ReadonlyMap<string, SchemaObject> {
  const [first, ...others] = alternatives;
  return new Map([...(first?.expected ?? [])].filter(([name]) => others.every(({ expected }) => expected.has(name))));
}

/**
 * Compiles the limit of a keyword into a function that returns whether a value has the expected form. Values of types
 * that the keyword does not describe have it.
 */
type CompileForm = (limit: never) => ExpectedForm['accepts'];

/** The keywords that describe an expected form, grouped by the type of the values that they describe. */
const FORMS: Readonly<Record<'string' | 'number' | 'any', Partial<Record<ExpectedForm['keyword'], CompileForm>>>> = {
  string: {
    'x-expected-pattern': (pattern: string) => {
      const expression = new RegExp(pattern, 'u');
      return (value) => typeof value !== 'string' || expression.test(value);
    },
    'x-expected-enum': (words: readonly string[]) => (value) => typeof value !== 'string' || words.includes(value),
  },
  number: {
    'x-expected-minimum': (least: number) => (value) => typeof value !== 'number' || value >= least,
    'x-expected-maximum': (most: number) => (value) => typeof value !== 'number' || value <= most,
  },
  any: {
    'x-expected-type': (types: string | readonly string[]) => {
      const all = [types].flat();
      return (value) => all.some((type) => isOfType(value, type));
    },
  },
};

function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

/**
 * Returns the expected forms of a value. If several alternatives accept values of a type, the expected form of these
 * values is unknown.
 */
function formsOfAll(alternatives: readonly Together[]): readonly ExpectedForm[] {
  const possible = alternatives.filter((places) => !places.some(({ schema }) => isNothing(schema)));
  return (['string', 'number', 'any'] as const).flatMap((type) => {
    const accepting = type === 'any' ? possible : possible.filter((places) => places.every(acceptsType(type)));
    const [only, ...others] = accepting;
    return only === undefined || others.length > 0 ? [] : formsOf(only, FORMS[type]);
  });
}

const acceptsType =
  (type: 'string' | 'number') =>
  ({ schema }: PlacedSchema): boolean =>
    typeof schema === 'boolean' || allows(schema, type) || (type === 'number' && allows(schema, 'integer'));

function formsOf(
  places: Together,
  keywords: Partial<Record<ExpectedForm['keyword'], CompileForm>>,
): readonly ExpectedForm[] {
  return places.flatMap(({ schema }) =>
    typeof schema === 'boolean'
      ? []
      : (Object.entries(keywords) as [ExpectedForm['keyword'], CompileForm][])
          .filter(([keyword]) => schema[keyword] !== undefined)
          .map(([keyword, compile]) => ({ keyword, schema, accepts: compile(schema[keyword] as never) })),
  );
}

function itemsOf(places: Together): Described<Together> {
  const items: PlacedSchema[] = [];
  for (const { schema, path } of places) {
    if (schema === false) return 'none';
    if (schema === true) continue;
    if (!allows(schema, 'array') || isNothing(schema)) return 'none';
    if (BEYOND_ITEMS.some((name) => Object.hasOwn(schema, name))) return 'open';
    if (schema.items !== undefined) items.push({ schema: schema.items, path });
  }
  return items.length === 0 ? 'open' : items;
}

/** Returns true for a schema that accepts no value, in the form that the generator writes for `false`. */
function isNothing(schema: SchemaOrBoolean): boolean {
  if (typeof schema === 'boolean') return !schema;
  const { not } = schema;
  return not === true || (typeof not === 'object' && not !== null && Object.keys(not).length === 0);
}

function keyOf({ ids }: Compilation, alternatives: readonly Together[]): string {
  const idOf = (schema: SchemaOrBoolean) => {
    const known = ids.get(schema) ?? ids.size;
    ids.set(schema, known);
    return known;
  };
  const texts = alternatives.map((places) =>
    [...new Set(places.map(({ schema }) => idOf(schema)))].sort((a, b) => a - b).join(),
  );
  return [...new Set(texts)].toSorted().join('|');
}

/**
 * Returns the alternative ways in which a value can match schemas. If there are more than any contract needs, a
 * placeholder stands for them. In values that it describes, no field counts as undocumented.
 */
const alternativesOf = createAlternatives({
  maxAlternatives: 64,
  giveUp: () => [[{ schema: { if: true }, path: '' }]],
});

/**
 * The documented fields and the expected forms of a value. Undefined if the contract describes neither.
 */
export type FieldShape = ObjectShape | undefined;

/**
 * The documented fields of an object, the documented content of an array's elements, or the expected forms of a value.
 */
export interface ObjectShape {
  /** The fields of an object. Undefined if the contract does not describe an object here. */
  object: KnownFields | undefined;
  /**
   * The shape of an array's elements. Undefined if the contract does not describe an array here, or does not restrict
   * the elements.
   */
  elements: FieldShape;
  /** The forms that the contract expects a value to have. Any other form causes an advisory. */
  forms: readonly ExpectedForm[];
}

/** A form that the contract expects a value to have. */
export interface ExpectedForm {
  readonly keyword:
    'x-expected-type' | 'x-expected-pattern' | 'x-expected-enum' | 'x-expected-minimum' | 'x-expected-maximum';
  /** The schema that contains the keyword. */
  readonly schema: SchemaObject;
  readonly accepts: (value: unknown) => boolean;
}

/** The documented fields of an object. */
export interface KnownFields {
  readonly names: ReadonlySet<string>;
  /** The fields that are expected but not required, each with the schema that contains the expectation. */
  readonly expected: ReadonlyMap<string, SchemaObject>;
  /**
   * True if undocumented fields in this object are not reported as advisories, because the contract already states
   * whether they are allowed.
   */
  readonly settled: boolean;
  /** The fields whose values themselves have documented fields or expected forms. */
  readonly inner: readonly InnerField[];
  /**
   * The field names, in order, of the most recent object without unknown fields. Each object is first compared with
   * these names, because most objects in a list have the same fields.
   */
  order: readonly string[];
}

/** A field whose value itself has documented fields or an expected form. */
interface InnerField {
  readonly name: string;
  readonly shape: ObjectShape;
}

/** Returns the shape of the value at a JSON pointer. */
export function shapeAt(shape: FieldShape, pointer: string): FieldShape {
  let here = shape;
  for (const name of keysOf(pointer)) {
    here = here?.object?.inner.find((field) => field.name === name)?.shape ?? here?.elements;
  }
  return here;
}

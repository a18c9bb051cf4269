import type { SchemaNode } from '../document.ts';
import type { PlaceSchema } from '../place-schema.ts';

/** A keyword in one of the schemas that apply to a place. Observations are stored under `key`. */
interface Restriction {
  readonly keyword: string;
  /** The path of the schema and the keyword. */
  readonly key: string;
  readonly accepts: (value: unknown) => boolean;
}

const compiled = new WeakMap<PlaceSchema, readonly Restriction[]>();

/** Returns the keywords that a value of the documented type violates at a place. */
export function brokenKeywords(placeSchema: PlaceSchema, value: unknown): readonly Restriction[] {
  let restrictions = compiled.get(placeSchema);
  if (restrictions === undefined) {
    restrictions = placeSchema.sites.flatMap(({ path, schema, alternative }) =>
      alternative === true
        ? []
        : KEYWORDS.flatMap(({ keyword, compile }) =>
            schema[keyword] === undefined
              ? []
              : [{ keyword, key: `${path} ${keyword}`, accepts: compile(schema[keyword], schema) }],
          ),
    );
    compiled.set(placeSchema, restrictions);
  }
  return restrictions.length === 0 ? restrictions : restrictions.filter(({ accepts }) => !accepts(value));
}

type Compile = (limit: unknown, schema: SchemaNode) => (value: unknown) => boolean;

const numberWhere =
  (test: (value: number, limit: number) => boolean): Compile =>
  (limit) =>
  (value) =>
    typeof value !== 'number' || test(value, Number(limit));
const textWhere =
  (test: (length: number, limit: number) => boolean): Compile =>
  (limit) =>
  (value) =>
    typeof value !== 'string' || test(lengthOf(value, Number(limit)), Number(limit));

/**
 * Returns the number of characters in a string, or a number above the limit if there are more. A character consists of
 * one or two code units, so a very long string need not be split into its characters.
 */
function lengthOf(text: string, limit: number): number {
  return text.length > 2 * limit ? limit + 1 : Array.from(text).length;
}

const arrayWhere =
  (test: (length: number, limit: number) => boolean): Compile =>
  (limit) =>
  (value) =>
    !Array.isArray(value) || test(value.length, Number(limit));
const matching: Compile = (pattern) => {
  const expression = new RegExp(String(pattern), 'u');
  return (value) => typeof value !== 'string' || expression.test(value);
};
const listed: Compile = (words) => (value) => !Array.isArray(words) || words.includes(value);

const BITS: Readonly<Record<string, number>> = { int32: 2 ** 31, int64: 2 ** 63 };

/** The keywords that restrict values of a given type. */
const KEYWORDS: readonly { readonly keyword: string; readonly compile: Compile }[] = [
  { keyword: 'pattern', compile: matching },
  { keyword: 'x-expected-pattern', compile: matching },
  { keyword: 'enum', compile: listed },
  { keyword: 'x-expected-enum', compile: listed },
  { keyword: 'minimum', compile: numberWhere((value, limit) => value >= limit) },
  { keyword: 'maximum', compile: numberWhere((value, limit) => value <= limit) },
  { keyword: 'minLength', compile: textWhere((length, limit) => length >= limit) },
  { keyword: 'maxLength', compile: textWhere((length, limit) => length <= limit) },
  { keyword: 'minItems', compile: arrayWhere((length, limit) => length >= limit) },
  { keyword: 'maxItems', compile: arrayWhere((length, limit) => length <= limit) },
  {
    keyword: 'format',
    compile: (format) => {
      const end = BITS[String(format)] ?? Infinity;
      return (value) => typeof value !== 'number' || (value >= -end && value < end);
    },
  },
  // The `false` schema means that the field must be absent.
  { keyword: 'not', compile: () => () => false },
];

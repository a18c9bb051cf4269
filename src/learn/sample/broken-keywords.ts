import type { PlaceSchema } from '../place-schema.ts';

/** A keyword in one of the schemas that apply to a place. The key consists of the schema's path and the keyword. */
interface Restriction {
  readonly key: string;
  readonly accepts: (value: unknown) => boolean;
}

const compiled = new WeakMap<PlaceSchema, readonly Restriction[]>();

/** Returns the keys of the keywords that a value of the documented type violates: the schema's path and the keyword. */
export function brokenKeywords(placeSchema: PlaceSchema, value: unknown): readonly string[] {
  let restrictions = compiled.get(placeSchema);
  if (restrictions === undefined) {
    const sites = placeSchema.sites.filter(({ alternative }) => alternative !== true);
    restrictions = sites.flatMap(({ path, schema }) =>
      Object.entries(KEYWORDS)
        .filter(([keyword]) => schema[keyword] !== undefined)
        .map(([keyword, compile]) => ({ key: `${path} ${keyword}`, accepts: compile(schema[keyword]) })),
    );
    compiled.set(placeSchema, restrictions);
  }
  return restrictions.filter(({ accepts }) => !accepts(value)).map(({ key }) => key);
}

/** Compiles the value of a keyword to a test. Values of types that the keyword does not restrict pass the test. */
type Compile = (limit: unknown) => (value: unknown) => boolean;

/** Returns the size of a value, or undefined if the keyword does not restrict values of its type. */
type Size = (value: unknown, limit: number) => number | undefined;

const numberOf: Size = (value) => (typeof value === 'number' ? value : undefined);
const countOf: Size = (value) => (Array.isArray(value) ? value.length : undefined);
/** A character consists of one or two code units, so a very long string need not be split into its characters. */
const lengthOf: Size = (value, limit) =>
  typeof value !== 'string' ? undefined : value.length > 2 * limit ? limit + 1 : Array.from(value).length;

function bound(sizeOf: Size, isWithin: (size: number, limit: number) => boolean): Compile {
  return (limit) => (value) => isWithin(sizeOf(value, Number(limit)) ?? Number(limit), Number(limit));
}

const atLeast = (size: number, limit: number) => size >= limit;
const atMost = (size: number, limit: number) => size <= limit;
const matching: Compile = (pattern) => {
  const expression = new RegExp(String(pattern), 'u');
  return (value) => typeof value !== 'string' || expression.test(value);
};
const listed: Compile = (words) => (value) => !Array.isArray(words) || words.includes(value);

const inRange: Compile = (format) => {
  const end = format === 'int32' ? 2 ** 31 : format === 'int64' ? 2 ** 63 : Infinity;
  return (value) => typeof value !== 'number' || (value >= -end && value < end);
};

/** The keywords that restrict values of a given type. */
const KEYWORDS: Readonly<Record<string, Compile>> = {
  pattern: matching,
  'x-expected-pattern': matching,
  enum: listed,
  'x-expected-enum': listed,
  minimum: bound(numberOf, atLeast),
  maximum: bound(numberOf, atMost),
  minLength: bound(lengthOf, atLeast),
  maxLength: bound(lengthOf, atMost),
  minItems: bound(countOf, atLeast),
  maxItems: bound(countOf, atMost),
  format: inRange,
  // The `false` schema means that the field must be absent.
  not: () => () => false,
};

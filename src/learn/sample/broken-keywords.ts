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
    const sites = placeSchema.sites.filter(({ alternative }) => alternative !== true);
    restrictions = sites.flatMap(({ path, schema }) =>
      Object.entries(KEYWORDS)
        .filter(([keyword]) => schema[keyword] !== undefined)
        .map(([keyword, compile]) => ({ keyword, key: `${path} ${keyword}`, accepts: compile(schema[keyword]) })),
    );
    compiled.set(placeSchema, restrictions);
  }
  return restrictions.length === 0 ? restrictions : restrictions.filter(({ accepts }) => !accepts(value));
}

/** Compiles the value of a keyword to a test. Values of types that the keyword does not restrict pass the test. */
type Compile = (limit: unknown) => (value: unknown) => boolean;

/** Returns the size of a value, or undefined if the keyword does not restrict values of its type. */
type Size = (value: unknown, limit: number) => number | undefined;

const numberOf: Size = (value) => (typeof value === 'number' ? value : undefined);
const countOf: Size = (value) => (Array.isArray(value) ? value.length : undefined);
/** A character consists of one or two code units, so a very long string need not be split into its characters. */
const lengthOf: Size = (value, limit) => {
  if (typeof value !== 'string') return undefined;
  return value.length > 2 * limit ? limit + 1 : Array.from(value).length;
};

function atLeast(sizeOf: Size): Compile {
  return (limit) => (value) => (sizeOf(value, Number(limit)) ?? Infinity) >= Number(limit);
}

function atMost(sizeOf: Size): Compile {
  return (limit) => (value) => (sizeOf(value, Number(limit)) ?? -Infinity) <= Number(limit);
}

const matching: Compile = (pattern) => {
  const expression = new RegExp(String(pattern), 'u');
  return (value) => typeof value !== 'string' || expression.test(value);
};
const listed: Compile = (words) => (value) => !Array.isArray(words) || words.includes(value);

const ENDS: Readonly<Record<string, number>> = { int32: 2 ** 31, int64: 2 ** 63 };
const inRange: Compile = (format) => {
  const end = ENDS[String(format)] ?? Infinity;
  return (value) => typeof value !== 'number' || (value >= -end && value < end);
};

/** The keywords that restrict values of a given type. */
const KEYWORDS: Readonly<Record<string, Compile>> = {
  pattern: matching,
  'x-expected-pattern': matching,
  enum: listed,
  'x-expected-enum': listed,
  minimum: atLeast(numberOf),
  maximum: atMost(numberOf),
  minLength: atLeast(lengthOf),
  maxLength: atMost(lengthOf),
  minItems: atLeast(countOf),
  maxItems: atMost(countOf),
  format: inRange,
  // The `false` schema means that the field must be absent.
  not: () => () => false,
};

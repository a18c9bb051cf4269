import type { SchemaOrBoolean } from '../contract/openapi-document.ts';
import {
  createAlternatives,
  type PlacedSchema,
  type SchemasByPath,
  type Together,
} from '../contract/schema-alternatives.ts';
import { ARRAY, FALSE, FRACTION, INTEGER, NULL, OBJECT, STRING, TRUE } from './table-layout.ts';

/**
 * Thrown for a schema that the scanner cannot check. Responses with this schema are parsed and validated as if there
 * were no scanner.
 */
export class UnsupportedSchema extends Error {
  override readonly name = 'UnsupportedSchema';
}

// The alternatives must apply to different kinds of values, so that at most one alternative can match.
const alternativesOf = createAlternatives({
  maxAlternatives: 16,
  giveUp(reason) {
    throw new UnsupportedSchema(reason);
  },
});

/** The rules for the members of an object. */
export interface ObjectRules {
  /** The schemas for each documented member, in the order in which the members are listed. */
  readonly members: ReadonlyMap<string, readonly PlacedSchema[]>;
  readonly required: ReadonlySet<string>;
  /** The members that are expected but not required. */
  readonly expected: ReadonlySet<string>;
  /**
   * The effect of an undocumented member: it is reported, it is ignored, or it prevents the scan from proving that
   * the body is valid.
   */
  readonly others: 'reported' | 'ignored' | 'doubted';
}

/** The combined requirements of all schemas for one value. */
export interface ValueRules {
  /** The allowed kinds of values, one bit per kind. */
  kinds: number;
  minimum: number;
  maximum: number;
  pattern: string | undefined;
  /** The strings that an enum allows. Undefined if there is no enum. */
  words: readonly string[] | undefined;
  /**
   * The expected pattern and the expected words. A string that does not match them is valid but is recorded by the
   * scan.
   */
  expectedPattern: string | undefined;
  expectedWords: readonly string[] | undefined;
  minLength: number;
  maxLength: number;
  minItems: number;
  maxItems: number;
  /** The rules for the members of an object. Undefined if every object is valid. */
  object: ObjectRules | undefined;
  /** The schemas for each element of an array. */
  items: readonly PlacedSchema[];
}

/** The bits for all kinds of JSON values, combined. */
export const EVERY_KIND = NULL | TRUE | FALSE | INTEGER | FRACTION | STRING | OBJECT | ARRAY;
const NUMBER = INTEGER | FRACTION;
const KINDS: Readonly<Record<string, number>> = {
  null: NULL,
  boolean: TRUE | FALSE,
  integer: INTEGER,
  number: NUMBER,
  string: STRING,
  object: OBJECT,
  array: ARRAY,
};

/**
 * Merges the schemas that apply to one value. Throws if a keyword is not supported or if alternatives apply to values
 * of the same kind.
 */
export function mergeRules(schemas: SchemasByPath, places: readonly PlacedSchema[]): ValueRules {
  const [place] = places;
  if (place === undefined || places.length > 1 || typeof place.schema === 'boolean') return mergeAll(schemas, places);
  // Results are cached, because most values have only one schema and many responses share most of their schemas.
  const known = merged.get(schemas) ?? new WeakMap<object, ValueRules>();
  merged.set(schemas, known);
  const rules = known.get(place.schema) ?? mergeAll(schemas, places);
  known.set(place.schema, rules);
  return rules;
}

const merged = new WeakMap<SchemasByPath, WeakMap<object, ValueRules>>();

function mergeAll(schemas: SchemasByPath, places: readonly PlacedSchema[]): ValueRules {
  const possible = alternativesOf(schemas, places)
    .map(mergeTogether)
    .filter(({ kinds }) => kinds !== 0);
  const [first = { ...rulesOfNothing(), kinds: 0 }, ...others] = possible;
  return others.reduce(withAlternative, first);
}

function withAlternative(one: ValueRules, other: ValueRules): ValueRules {
  if ((one.kinds & other.kinds) !== 0) throw new UnsupportedSchema('alternatives for values of the same kind');
  const numbers = (other.kinds & NUMBER) === 0 ? one : other;
  const strings = (other.kinds & STRING) === 0 ? one : other;
  const arrays = (other.kinds & ARRAY) === 0 ? one : other;
  const objects = (other.kinds & OBJECT) === 0 ? one : other;
  return {
    kinds: one.kinds | other.kinds,
    minimum: numbers.minimum,
    maximum: numbers.maximum,
    pattern: strings.pattern,
    words: strings.words,
    expectedPattern: strings.expectedPattern,
    expectedWords: strings.expectedWords,
    minLength: strings.minLength,
    maxLength: strings.maxLength,
    minItems: arrays.minItems,
    maxItems: arrays.maxItems,
    items: arrays.items,
    object: objects.object,
  };
}

function rulesOfNothing(): ValueRules {
  return {
    kinds: EVERY_KIND,
    minimum: Number.NEGATIVE_INFINITY,
    maximum: Number.POSITIVE_INFINITY,
    pattern: undefined,
    words: undefined,
    expectedPattern: undefined,
    expectedWords: undefined,
    minLength: 0,
    maxLength: Number.POSITIVE_INFINITY,
    minItems: 0,
    maxItems: Number.POSITIVE_INFINITY,
    object: undefined,
    items: [],
  };
}

function mergeTogether(places: Together): ValueRules {
  const rules = rulesOfNothing();
  for (const place of places) {
    const { schema, path } = place;
    if (schema === true) continue;
    if (schema === false) rules.kinds = 0;
    else
      for (const [keyword, value] of Object.entries(schema)) {
        const apply = KEYWORDS.get(keyword);
        if (apply === undefined) throw new UnsupportedSchema(`the keyword ${keyword} in ${path}`);
        apply(rules, value, path);
      }
  }
  rules.object = mergeObject(places);
  if (rules.words !== undefined) rules.words = rules.words.filter((word) => isAllowed(rules, word));
  return rules;
}

/**
 * Returns whether a word in an enum satisfies the other rules for strings. If it does, the scan does not have to check
 * them.
 */
function isAllowed({ pattern, minLength, maxLength }: ValueRules, word: string): boolean {
  const characters = Array.from(word).length;
  if (characters < minLength || characters > maxLength) return false;
  return pattern === undefined || new RegExp(pattern, 'u').test(word);
}

type Apply = (rules: ValueRules, value: unknown, path: string) => void;

const nothing: Apply = () => undefined;

const KEYWORDS: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  ...['$schema', '$id', '$comment', 'title', 'description', 'default', 'deprecated'].map(
    (annotation) => [annotation, nothing] as const,
  ),
  // References have already been resolved and combinations expanded, so their keywords are ignored here.
  ...['$ref', 'allOf', 'anyOf', 'oneOf'].map((combination) => [combination, nothing] as const),
  // `mergeObject` merges all keywords for objects together, because the effect of `additionalProperties` depends on
  // `properties`.
  ...['properties', 'required', 'x-expected', 'additionalProperties'].map((keyword) => [keyword, nothing] as const),
  ['type', (rules, value) => restrictKinds(rules, value)],
  // A value of another type or outside the expected bounds is valid, but it has to be reported, so such a body is parsed.
  ['x-expected-type', (rules, value) => restrictKinds(rules, value)],
  ['x-expected-minimum', (rules, value) => (rules.minimum = Math.max(rules.minimum, Number(value)))],
  ['x-expected-maximum', (rules, value) => (rules.maximum = Math.min(rules.maximum, Number(value)))],
  ['minimum', (rules, value) => (rules.minimum = Math.max(rules.minimum, Number(value)))],
  ['maximum', (rules, value) => (rules.maximum = Math.min(rules.maximum, Number(value)))],
  ['minLength', (rules, value) => (rules.minLength = Math.max(rules.minLength, Number(value)))],
  ['maxLength', (rules, value) => (rules.maxLength = Math.min(rules.maxLength, Number(value)))],
  ['minItems', (rules, value) => (rules.minItems = Math.max(rules.minItems, Number(value)))],
  ['maxItems', (rules, value) => (rules.maxItems = Math.min(rules.maxItems, Number(value)))],
  [
    'pattern',
    (rules, value, path) => {
      if (rules.pattern !== undefined && rules.pattern !== value)
        throw new UnsupportedSchema(`two patterns in ${path}`);
      rules.pattern = String(value);
    },
  ],
  ['x-expected-pattern', (rules, value, path) => expectOnce(rules, { expectedPattern: String(value) }, path)],
  ['x-expected-enum', (rules, value, path) => expectOnce(rules, { expectedWords: value as readonly string[] }, path)],
  ['items', (rules, value, path) => (rules.items = [...rules.items, { schema: value as SchemaOrBoolean, path }])],
  ['enum', (rules, value, path) => allowOnly(rules, value as readonly unknown[], path)],
  ['const', (rules, value, path) => allowOnly(rules, [value], path)],
  [
    'not',
    (rules, value, path) => {
      const isEverything = value === true || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
      if (!isEverything) throw new UnsupportedSchema(`the keyword not in ${path}`);
      rules.kinds = 0;
    },
  ],
]);

/** Allows only values of the given type, or of one of the given types. */
function restrictKinds(rules: ValueRules, types: unknown): void {
  rules.kinds &= [types].flat().reduce<number>((bits, name) => bits | (KINDS[String(name)] ?? 0), 0);
}

/**
 * Sets the expectation for a string. Throws if the string already has an expectation, because the scan can record only
 * one departure per string.
 */
function expectOnce(rules: ValueRules, expectation: Partial<ValueRules>, path: string): void {
  if (rules.expectedPattern !== undefined || rules.expectedWords !== undefined)
    throw new UnsupportedSchema(`two expected forms in ${path}`);
  Object.assign(rules, expectation);
}

function allowOnly(rules: ValueRules, values: readonly unknown[], path: string): void {
  let kinds = 0;
  for (const value of values)
    if (typeof value === 'string') kinds |= STRING;
    else if (value === null) kinds |= NULL;
    else if (typeof value === 'boolean') kinds |= value ? TRUE : FALSE;
    else throw new UnsupportedSchema(`a ${typeof value} among the allowed values in ${path}`);
  rules.kinds &= kinds;
  const { words } = rules;
  const allowed = values.filter((value) => typeof value === 'string');
  rules.words = words === undefined ? allowed : words.filter((word) => allowed.includes(word));
}

/** Merges the schemas' rules for objects. Returns undefined if every object is valid. */
function mergeObject(places: Together): ObjectRules | undefined {
  const members = new Map<string, PlacedSchema[]>();
  const required = new Set<string>();
  const expected = new Set<string>();
  let others: ObjectRules['others'] = 'reported';
  for (const { schema, path } of places) {
    if (typeof schema === 'boolean') continue;
    for (const [name, child] of Object.entries(schema.properties ?? {}))
      members.set(name, [...(members.get(name) ?? []), { schema: child, path }]);
    for (const name of schema.required ?? []) required.add(name);
    for (const name of schema['x-expected'] ?? []) expected.add(name);
    const additional = schema.additionalProperties;
    if (additional === undefined) continue;
    if (typeof additional !== 'boolean') throw new UnsupportedSchema(`additionalProperties in ${path}`);
    // `additionalProperties` ignores the properties that other schemas define for the same value.
    if (!additional && places.filter(hasProperties).length > 1)
      throw new UnsupportedSchema(`additionalProperties beside other schemas in ${path}`);
    if (!additional) others = 'doubted';
    else if (others === 'reported') others = 'ignored';
  }
  for (const name of required) expected.delete(name);
  const present = [...required, ...expected];
  if (members.size === 0 && present.length === 0 && others !== 'doubted') return undefined;
  const isNamed = present.every((name) => members.has(name));
  if (members.size === 0 || !isNamed) throw new UnsupportedSchema('required members without a schema');
  return { members, required, expected, others };
}

const hasProperties = ({ schema }: PlacedSchema) => typeof schema === 'object' && schema.properties !== undefined;

import { isWord } from '../../engine/privacy/shown-name.ts';
import { type PlaceSchema, type TypedSite, typeOf } from '../place-schema.ts';
import {
  type DescribedObjects,
  type Observations,
  emptyVocabulary,
  type Vocabulary,
} from '../observations/observations.ts';
import { hashOf, itemOf } from '../shape/distinct-facts.ts';
import { type SampleContext, addMember, addValue, countObject } from '../shape/add-value.ts';
import { emptyObjects, emptyShape, type Shape, SHAPE_LIMITS } from '../shape/shape.ts';

/** A response to a request for a documented operation. */
export interface SampledResponse {
  readonly operation: string;
  readonly status: number;
  /** True if the request contained `details=true`. */
  readonly details: boolean;
  /** True if the caller selected the fields in the response. */
  readonly projected: boolean;
  readonly wrap: boolean;
  readonly v1: boolean;
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  /** A key shared by requests that differ only in `wrap` and `v1`. It is never stored. */
  readonly request: string;
  readonly json: unknown;
}

type Members = Readonly<Record<string, unknown>>;

/** Compares a response body with its schema and records the values that the schema does not describe. */
export function sampleBody(
  all: Observations,
  placeSchema: PlaceSchema,
  { status, json, request }: SampledResponse,
  context: SampleContext,
): void {
  if (!isOtherEnvelope(placeSchema, json, context.complete))
    return sampleValue(all, { placeSchema, name: '', item: hashOf(request) }, json, context);
  // A body that contains an error is an error response, even if its status indicates success.
  if (context.complete && status < 300 && !isError(json))
    addAt(all.envelopes, placeSchema.written.path, json, hashOf(request), context);
}

const isError = (json: unknown) =>
  typeof json === 'object' && json !== null && (Object.hasOwn(json, 'error') || Object.hasOwn(json, 'errors'));

interface Position {
  readonly placeSchema: PlaceSchema;
  /** The name of the field. Array elements have the name of their array. */
  readonly name: string;
  /** The hash of the item to which the value belongs. */
  readonly item: number;
}

function sampleValue(all: Observations, position: Position, value: unknown, context: SampleContext): void {
  const { placeSchema, name } = position;
  const item = hasTrustedId(placeSchema, value) ? itemOf(value, position.item) : position.item;
  if (placeSchema.open) return addAt(all.open, openPath(placeSchema), value, item, context);
  if (placeSchema.personal && typeof value === 'string') context.remember(value);
  const mistyped = mistypedPlaces(placeSchema, value);
  for (const { path } of mistyped) addAt(all.mistyped, path, value, item, context);
  if (mistyped.length > 0) return;
  for (const { keyword, key } of brokenKeywords(placeSchema, value)) {
    // A new word is not recorded as a violation of the keyword, because words are proposed one by one.
    const isWordToAdd = keyword.endsWith('enum') && canHoldWord(placeSchema, name, value);
    if (!isWordToAdd) addAt(all.broken, key, value, item, context);
    if (keyword === 'not') return;
  }
  if (typeof value === 'string' && hasVocabulary(placeSchema, name))
    addWord(all.vocabularies, placeSchema, value, item, context);
  if (Array.isArray(value)) {
    const items = placeSchema.items();
    if (items === undefined) return;
    const elements = value.length > SHAPE_LIMITS.elements ? value.slice(0, SHAPE_LIMITS.elements) : value;
    (elements as readonly unknown[]).forEach((element, index) => {
      // A word in an array belongs to the item that contains the array, regardless of its position in the array.
      const owner = typeof element === 'string' ? item : hashOf(String(index), item);
      sampleValue(all, { placeSchema: items, name, item: owner }, element, context);
    });
  } else if (typeof value === 'object' && value !== null)
    sampleMembers(all, placeSchema, value as Members, item, context);
}

/** Returns false if the value has an id of an undocumented type, because many items might share such an id. */
function hasTrustedId(placeSchema: PlaceSchema, value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'id')) return true;
  const id = placeSchema.member('id');
  return id === undefined || mistypedPlaces(id, (value as Members)['id']).length === 0;
}

function sampleMembers(
  all: Observations,
  placeSchema: PlaceSchema,
  value: Members,
  item: number,
  context: SampleContext,
): void {
  const described = describedAt(all, placeSchema.owner.path);
  const at = { place: hashOf(placeSchema.owner.path), item };
  const isNew = context.complete && countObject(described.objects, value, at, context);
  if (context.complete)
    for (const members of [placeSchema.required, placeSchema.expected])
      for (const { path, name } of members)
        if (!Object.hasOwn(value, name)) addAt(described.missing, `${path} ${name}`, null, item, context);
  for (const [name, member] of Object.entries(value)) {
    const known = placeSchema.member(name);
    if (known !== undefined) sampleValue(all, { placeSchema: known, name, item }, member, context);
    else if (placeSchema.describesMembers) addMember(described.objects, name, member, { at, isNew, depth: 0 }, context);
  }
}

/** Adds a value to the shape that is stored under a contract path. */
function addAt(places: Map<string, Shape>, path: string, value: unknown, item: number, context: SampleContext): void {
  addValue(shapeAt(places, path, context), value, { place: hashOf(path), item }, context);
}

/**
 * Returns the path under which observations about a place without a description are stored. The path of a component
 * without a type is not used, because many places share such components.
 */
function openPath({ owner, written }: PlaceSchema): string {
  return typeOf(owner.schema) === undefined ? written.path : owner.path;
}

function shapeAt(places: Map<string, Shape>, path: string, { budget }: SampleContext): Shape {
  const known = places.get(path);
  if (known !== undefined) return known;
  const shape = emptyShape();
  if (budget.left <= 0) {
    budget.dropped += 1;
    return shape;
  }
  budget.left -= 1;
  places.set(path, shape);
  return shape;
}

function describedAt({ described }: Observations, path: string): DescribedObjects {
  const known = described.get(path) ?? { objects: emptyObjects(), missing: new Map<string, Shape>() };
  described.set(path, known);
  return known;
}

/**
 * Returns whether the envelope of a body differs from the documented envelope, that is, whether the body has a
 * different type or lacks most of the required members.
 */
function isOtherEnvelope(placeSchema: PlaceSchema, json: unknown, complete: boolean): boolean {
  if (!placeSchema.open && mistypedPlaces(placeSchema, json).length > 0) return true;
  const required = new Set(placeSchema.required.map(({ name }) => name));
  if (required.size < 2) return false;
  const envelope = placeSchema.sites.some(({ schema }) => schema['x-envelope'] === true);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return true;
  if (!complete && !envelope) {
    const names = Object.keys(json);
    return names.length > 0 && names.every((name) => placeSchema.member(name) === undefined);
  }
  return [...required].filter((name) => !Object.hasOwn(json, name)).length > required.size / 2;
}

const NO_PLACES: readonly TypedSite[] = [];

/** Returns the descriptions whose types do not include the value's type. */
function mistypedPlaces({ places }: PlaceSchema, value: unknown): readonly TypedSite[] {
  const wrong = ({ types }: TypedSite) => types.some((some) => !some.some((type) => isType(type, value)));
  return places.some(wrong) ? places.filter(wrong) : NO_PLACES;
}

function isType(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

/** A keyword in one of the schemas that apply to a place. The key consists of the schema's path and the keyword. */
interface Restriction {
  readonly keyword: string;
  readonly key: string;
  readonly accepts: (value: unknown) => boolean;
}

const compiled = new WeakMap<PlaceSchema, readonly Restriction[]>();

/** Returns the keywords that a value of the documented type violates. */
function brokenKeywords(placeSchema: PlaceSchema, value: unknown): readonly Restriction[] {
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
  // Most places have no restrictions. Returning the existing empty array avoids creating a new one.
  return restrictions.length === 0 ? restrictions : restrictions.filter(({ accepts }) => !accepts(value));
}

/** Compiles a keyword's value into a test. Values of types that the keyword does not restrict pass the test. */
type Compile = (limit: unknown) => (value: unknown) => boolean;

/** Returns the size of a value, or undefined if the keyword does not restrict values of its type. */
type Size = (value: unknown, limit: number) => number | undefined;

const numberOf: Size = (value) => (typeof value === 'number' ? value : undefined);
const countOf: Size = (value) => (Array.isArray(value) ? value.length : undefined);
/** A character consists of one or two code units, so the length in code units is enough to judge a very long string. */
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
const inList: Compile = (words) => (value) => !Array.isArray(words) || words.includes(value);

const inRange: Compile = (format) => {
  const end = format === 'int32' ? 2 ** 31 : format === 'int64' ? 2 ** 63 : Infinity;
  return (value) => typeof value !== 'number' || (value >= -end && value < end);
};

/** The keywords that restrict values of a given type. */
const KEYWORDS: Readonly<Record<string, Compile>> = {
  pattern: matching,
  'x-expected-pattern': matching,
  enum: inList,
  'x-expected-enum': inList,
  const: (only) => (value) => value === only,
  minimum: bound(numberOf, atLeast),
  maximum: bound(numberOf, atMost),
  'x-expected-minimum': bound(numberOf, atLeast),
  'x-expected-maximum': bound(numberOf, atMost),
  exclusiveMinimum: (limit) => (value) => typeof value !== 'number' || value > Number(limit),
  exclusiveMaximum: (limit) => (value) => typeof value !== 'number' || value < Number(limit),
  minLength: bound(lengthOf, atLeast),
  maxLength: bound(lengthOf, atMost),
  minItems: bound(countOf, atLeast),
  maxItems: bound(countOf, atMost),
  format: inRange,
  // The `false` schema means that the field must be absent. Other schemas inside `not` are not sampled.
  not: (schema) => () => typeof schema === 'object' && Object.keys(schema ?? {}).length > 0,
};

/** The names of documented fields whose values are words from a closed set and are never personal. */
const NAMES = new Set(['nodeStates', 'verb', 'type', 'operations', 'status', 'executionStatus', 'sorts', 'visibility']);

/** The maximum number of stored words per place. */
const MAX_WORDS = 50;

/** Returns whether the values of a field are words from a closed set. */
function hasVocabulary({ personal, sites }: PlaceSchema, name: string): boolean {
  return NAMES.has(name) && !personal && sites.every(({ schema }) => schema['const'] === undefined);
}

/** Returns whether a value can be added to the vocabulary of a place. */
function canHoldWord(placeSchema: PlaceSchema, name: string, value: unknown): boolean {
  return typeof value === 'string' && hasVocabulary(placeSchema, name) && isWord(value);
}

/**
 * Returns the path under which words are stored: the path of the schema that lists the words or, if no schema lists
 * them, the path of the place itself.
 */
function vocabularyPath({ sites, written }: PlaceSchema): string {
  const listed = sites.find(({ schema }) => schema.enum !== undefined || schema['x-expected-enum'] !== undefined);
  return listed?.path ?? written.path;
}

/**
 * Counts a word once per `item`, because repeating a word in the same item is not new evidence of whether other
 * words exist. A value that is not a plain word is counted but not stored.
 */
function addWord(
  places: Map<string, Vocabulary>,
  placeSchema: PlaceSchema,
  text: string,
  item: number,
  context: SampleContext,
): void {
  const path = vocabularyPath(placeSchema);
  const place = places.get(path) ?? emptyVocabulary();
  places.set(path, place);
  place.firstSeenAt ||= context.now;
  place.lastSeenAt = context.now;
  const known = place.words.get(text);
  const isOther = known === undefined && (!isWord(text) || place.words.size >= MAX_WORDS || context.isPersonal(text));
  if (!context.isNew(isOther ? 'other' : `word ${text}`, { place: hashOf(path), item })) return;
  place.seen += 1;
  place.quiet += 1;
  if (place.mark !== context.responseNumber) {
    place.answers += 1;
    place.quietAnswers += 1;
  }
  place.mark = context.responseNumber;
  if (isOther) {
    place.other += 1;
    return;
  }
  const word = known ?? { seen: 0, answers: 0, mark: 0 };
  if (known === undefined) place.quiet = place.quietAnswers = 0;
  word.seen += 1;
  if (word.mark !== context.responseNumber) word.answers += 1;
  word.mark = context.responseNumber;
  place.words.set(text, word);
}

import { escapePointer, keysOf, pointerTo } from '../../../lib/json-pointer.ts';
import { type Departure, UNDOCUMENTED_FIELD, type Violation } from '../../model/violation.ts';
import { describeValue, SIZE_ONLY } from '../../privacy/describe-value.ts';
import { plainName } from '../../privacy/shown-name.ts';
import { placesIn, type SchemaFiles } from '../generate/generate-schemas.ts';
import type { ExpectedForm, FieldShape, KnownFields, ObjectShape } from './compile-field-shape.ts';
import { boundSentence, type DescribeFound, type SchemaPlace } from './schema-violation.ts';

/** A field that is not documented in the contract. */
export interface UnknownField {
  /** The JSON pointer to the object that contains the field. */
  readonly within: string;
  /**
   * The JSON pointer to the field. If the field's name must not be shown, the pointer contains `?` instead of the name.
   */
  readonly at: string;
  readonly value: unknown;
}

type Members = Readonly<Record<string, unknown>>;

/** The maximum depth of the search. No documented value is nested this deeply. */
const MAX_DEPTH = 64;

/** Limits how many unknown names are checked, because a sender can invent any number of names. */
const MAX_EXAMINED = 500;

const NONE_UNKNOWN: readonly UnknownField[] = [];

/**
 * Returns the fields in a value that the contract does not document, at every level that the contract describes. If a
 * field occurs in several list items, only its first occurrence is returned. At most `max` fields are returned.
 */
export function findUnknownFields(shape: FieldShape, value: unknown, max: number): readonly UnknownField[] {
  if (shape === undefined) return NONE_UNKNOWN;
  const search: UnknownSearch = { found: new Map(), seen: new Map(), path: [], max, examined: 0 };
  collectUnknown(search, shape, value, 0);
  return search.found.size === 0 ? NONE_UNKNOWN : [...search.found.values()];
}

interface UnknownSearch {
  /** The fields found so far, keyed by their path without indices so that each field is reported only once. */
  readonly found: Map<string, UnknownField>;
  /** The unknown names that have been checked, by the path without indices to the objects that contain them. */
  readonly seen: Map<string, Set<string>>;
  /** The names and indices that lead to the current value. Those beyond its depth are left over from other values. */
  readonly path: (string | number)[];
  readonly max: number;
  /** The number of unknown names checked so far. */
  examined: number;
}

const isOver = ({ found, max, examined }: UnknownSearch) => found.size >= max || examined >= MAX_EXAMINED;

function collectUnknown(search: UnknownSearch, shape: ObjectShape, value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || isOver(search)) return;
  const { path } = search;
  if (Array.isArray(value)) {
    const { elements } = shape;
    if (elements === undefined) return;
    for (let index = 0; index < value.length; index += 1) {
      path[depth] = index;
      collectUnknown(search, elements, value[index], depth + 1);
    }
    return;
  }
  const known = shape.object;
  if (known === undefined) return;
  const members = value as Members;
  if (!known.settled) collectUnknownNames(search, known, members, depth);
  for (const { name, shape: inner } of known.inner)
    if (Object.hasOwn(members, name)) {
      path[depth] = name;
      collectUnknown(search, inner, members[name], depth + 1);
    }
}

/**
 * Collects the unknown names of one object. Its names are enumerated only once, because an object can have so many that
 * this takes milliseconds. As long as they have the same order as those of the previous object, no name is looked up.
 */
function collectUnknownNames(search: UnknownSearch, known: KnownFields, members: Members, depth: number): void {
  const { order } = known;
  let at = 0;
  let hasOtherOrder = false;
  let seen: Set<string> | undefined;
  for (const name in members) {
    if (name === order[at]) at += 1;
    else if (known.names.has(name)) hasOtherOrder = true;
    else if (Object.hasOwn(members, name)) {
      seen ??= seenAt(search, depth);
      if (seen.has(name)) continue;
      if (isOver(search)) return;
      seen.add(name);
      search.examined += 1;
      reportUnknown(search, depth, name, members[name]);
    }
  }
  if (hasOtherOrder && seen === undefined) known.order = Object.keys(members);
}

const placeOf = ({ path }: UnknownSearch, depth: number) =>
  path
    .slice(0, depth)
    .map((step) => (typeof step === 'number' ? '*' : step))
    .join('/');

function seenAt(search: UnknownSearch, depth: number): Set<string> {
  const place = placeOf(search, depth);
  const known = search.seen.get(place);
  if (known !== undefined) return known;
  const seen = new Set<string>();
  search.seen.set(place, seen);
  return seen;
}

/** Reports a field, unless another field at this place is shown under the same name. */
function reportUnknown(search: UnknownSearch, depth: number, name: string, value: unknown): void {
  const shown = plainName(name);
  const place = `${placeOf(search, depth)}/${shown}`;
  if (search.found.has(place)) return;
  const within = pointerTo(search.path.slice(0, depth));
  search.found.set(place, { within, at: `${within}/${shown}`, value });
}

/**
 * Returns the violation for a field that the contract does not document. The value may be personal, so the violation
 * includes only its type and size.
 */
export function unknownFieldViolation({ at, value }: UnknownField, place: SchemaPlace): Violation {
  return {
    ...place,
    category: 'undocumented',
    at,
    keyword: UNDOCUMENTED_FIELD,
    schemaPath: '',
    message: `${at} is not documented`,
    found: describeValue(value, SIZE_ONLY),
  };
}

/** An expectation in the contract that a response does not meet. */
export interface UnmetExpectation extends Pick<ExpectedForm, 'schema'> {
  readonly keyword: 'x-expected' | ExpectedForm['keyword'];
  /** The JSON pointer to the object that contains or lacks the field. */
  readonly within: string;
  /** The JSON pointer to the field. */
  readonly at: string;
  /** The value that does not have the expected form. Undefined if an expected field is absent. */
  readonly value: unknown;
}

const NONE_UNMET: readonly UnmetExpectation[] = [];

/**
 * Returns the expectations that a value does not meet, at every level that the contract describes. If several list
 * items fail to meet the same expectation, only the first of them is reported.
 */
export function findUnmetExpectations(shape: FieldShape, value: unknown): readonly UnmetExpectation[] {
  // Nearly all responses meet all expectations, so the first check is a faster one that does not record paths.
  if (shape === undefined || meetsAll(shape, value, 0)) return NONE_UNMET;
  const found: UnmetByKey = new Map();
  collectUnmet(found, shape, value, { place: newPlace(''), trail: undefined, depth: 0 });
  return inOrder(found);
}

/** Returns the unmet expectations for the departures (differences from the expected form) found by a scan. */
export function unmetExpectationsAt(shape: FieldShape, departures: readonly Departure[]): readonly UnmetExpectation[] {
  if (departures.length === 0) return NONE_UNMET;
  const found: UnmetByKey = new Map();
  const root: Where = { place: newPlace(''), trail: undefined, depth: 0 };
  for (const { path, text } of departures) {
    let parent: FieldShape;
    let here = shape;
    let where = root;
    for (const step of path) {
      parent = here;
      where = below(where, step);
      here = typeof step === 'number' ? here?.elements : here?.object?.inner.find(({ name }) => name === step)?.shape;
    }
    const name = path.at(-1);
    const schema = typeof name === 'string' ? parent?.object?.expected.get(name) : undefined;
    if (text !== undefined) reportForms(found, here, where, text);
    else if (schema !== undefined) reportUnmet(found, where, { keyword: 'x-expected', schema, value: undefined });
  }
  return inOrder(found);
}

function meetsAll(shape: ObjectShape, value: unknown, depth: number): boolean {
  for (const { accepts } of shape.forms) if (!accepts(value)) return false;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return true;
  if (Array.isArray(value)) {
    const { elements } = shape;
    if (elements !== undefined)
      for (const element of value as readonly unknown[]) if (!meetsAll(elements, element, depth + 1)) return false;
    return true;
  }
  const known = shape.object;
  if (known === undefined) return true;
  if (!isComplete(known, value)) return false;
  for (const { name, shape: below } of known.inner)
    if (Object.hasOwn(value, name) && !meetsAll(below, (value as Members)[name], depth + 1)) return false;
  return true;
}

function isComplete({ expected }: KnownFields, value: object): boolean {
  for (const name of expected.keys()) if (!Object.hasOwn(value, name)) return false;
  return true;
}

/** The unmet expectations, keyed by keyword and by location without indices. */
type UnmetByKey = Map<string, UnmetExpectation>;

/**
 * A location without indices. All items of a list share it: a list can have tens of thousands of items without a single
 * expected field, and nothing may be computed for each of these fields.
 */
interface Place {
  /** The location as a JSON pointer with `*` in place of each index. */
  readonly pointer: string;
  /** The expected fields that no item has lacked so far. */
  readonly open: Map<KnownFields, Map<string, UnmetExpectation['schema']>>;
  /** The keywords of the expectations that have been reported here. */
  readonly reported: Set<UnmetExpectation['keyword']>;
  /** The places below that have been visited, by name. */
  readonly below: Map<string, Place>;
}

/** The names and indices that lead to a location, the last one first. */
interface Trail {
  readonly step: string | number;
  readonly before: Trail | undefined;
}

interface Where {
  readonly place: Place;
  readonly trail: Trail | undefined;
  readonly depth: number;
}

const newPlace = (pointer: string): Place => ({
  pointer,
  open: new Map(),
  reported: new Set(),
  below: new Map(),
});

function placeBelow({ pointer, below: places }: Place, step: string | number): Place {
  const name = typeof step === 'number' ? '*' : step;
  const known = places.get(name);
  if (known !== undefined) return known;
  const place = newPlace(`${pointer}/${escapePointer(name)}`);
  places.set(name, place);
  return place;
}

function openAt({ open }: Place, known: KnownFields): Map<string, UnmetExpectation['schema']> {
  const started = open.get(known);
  if (started !== undefined) return started;
  const all = new Map(known.expected);
  open.set(known, all);
  return all;
}

const below = ({ place, trail, depth }: Where, step: string | number): Where => ({
  place: placeBelow(place, step),
  trail: { step, before: trail },
  depth: depth + 1,
});

function pathOf(trail: Trail | undefined): (string | number)[] {
  const steps: (string | number)[] = [];
  for (let at = trail; at !== undefined; at = at.before) steps.unshift(at.step);
  return steps;
}

function collectUnmet(found: UnmetByKey, shape: ObjectShape, value: unknown, where: Where): void {
  reportForms(found, shape, where, value);
  if (typeof value !== 'object' || value === null || where.depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    const { elements } = shape;
    if (elements !== undefined)
      value.forEach((element, index) => collectUnmet(found, elements, element, below(where, index)));
    return;
  }
  const known = shape.object;
  if (known === undefined) return;
  const members = value as Members;
  const open = openAt(where.place, known);
  for (const [name, schema] of open)
    if (!Object.hasOwn(members, name)) {
      reportUnmet(found, below(where, name), { keyword: 'x-expected', schema, value: undefined });
      open.delete(name);
    }
  for (const { name, shape: inner } of known.inner)
    if (Object.hasOwn(members, name)) collectUnmet(found, inner, members[name], below(where, name));
}

function reportForms(found: UnmetByKey, shape: FieldShape, where: Where, value: unknown): void {
  for (const { accepts, keyword, schema } of shape?.forms ?? [])
    if (!accepts(value)) reportUnmet(found, where, { keyword, schema, value });
}

function reportUnmet(
  found: UnmetByKey,
  { place, trail }: Where,
  unmet: Pick<UnmetExpectation, 'keyword' | 'schema' | 'value'>,
) {
  if (place.reported.has(unmet.keyword)) return;
  place.reported.add(unmet.keyword);
  const path = pathOf(trail);
  found.set(`${unmet.keyword} ${place.pointer}`, {
    ...unmet,
    within: pointerTo(path.slice(0, -1)),
    at: pointerTo(path),
  });
}

/** Returns the unmet expectations in a fixed order, regardless of the order in which they were found. */
const inOrder = (found: UnmetByKey): readonly UnmetExpectation[] =>
  [...found].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, unmet]) => unmet);

/** Returns the advisory for an unmet expectation. */
export function expectationViolation(
  { at, keyword, schema, value }: UnmetExpectation,
  place: SchemaPlace,
  files: SchemaFiles,
  describe: DescribeFound,
): Violation {
  const schemaPath = (placesIn(files).get(schema) ?? '').replace('.projected.schema.json#', '.schema.json#');
  // The description of a value depends on the names of the fields that contain it, so the value is passed together
  // with those names.
  const message = keysOf(at).reduceRight<unknown>((inside, name) => ({ [name]: inside }), value);
  const found = value === undefined ? undefined : describe(message, at, keyword);
  return {
    ...place,
    category: 'advisory',
    at,
    keyword,
    schemaPath: `${schemaPath}/${keyword}`,
    message: `${at} ${sentence(keyword, schema[keyword])}`,
    ...(found !== undefined && { found }),
  };
}

function sentence(keyword: UnmetExpectation['keyword'], limit: unknown): string {
  if (keyword === 'x-expected') return 'is expected but absent';
  if (keyword === 'x-expected-type') return `is expected to be ${[limit].flat().join(' or ')}`;
  if (keyword === 'x-expected-enum') return `is expected to be one of ${(limit as readonly string[]).join(', ')}`;
  if (keyword === 'x-expected-minimum') return `is expected to ${boundSentence('minimum', limit)}`;
  if (keyword === 'x-expected-maximum') return `is expected to ${boundSentence('maximum', limit)}`;
  return 'is expected to have the documented form';
}

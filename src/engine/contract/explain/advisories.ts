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

/** Limits how many unknown members are checked, because a sender can invent any number of names. */
const MAX_EXAMINED = 2000;

const NONE_UNKNOWN: readonly UnknownField[] = [];

/**
 * Returns the fields in a value that the contract does not document, at every level that the contract describes. If a
 * field occurs in several list items, only its first occurrence is returned. At most `max` fields are returned.
 */
export function findUnknownFields(shape: FieldShape, value: unknown, max: number): readonly UnknownField[] {
  // Most responses have no unknown fields, so a faster check that does not record paths runs first.
  if (shape === undefined || !hasUnknown(shape, value, 0)) return NONE_UNKNOWN;
  const search: UnknownSearch = { found: new Map(), path: [], max, examined: 0 };
  collectUnknown(search, shape, value);
  return [...search.found.values()];
}

function hasUnknown(shape: ObjectShape, value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    const { elements } = shape;
    if (elements !== undefined)
      for (const element of value as readonly unknown[]) if (hasUnknown(elements, element, depth + 1)) return true;
    return false;
  }
  const known = shape.object;
  if (known === undefined) return false;
  if (!hasLastOrder(known, value) && !hasKnownOnly(known, value)) return true;
  for (const { name, shape: below } of known.inner)
    if (hasUnknown(below, (value as Readonly<Record<string, unknown>>)[name], depth + 1)) return true;
  return false;
}

/**
 * Returns true if an object has the same field names, in the same order, as the most recent object without unknown
 * fields. This comparison needs no lookups.
 */
function hasLastOrder({ order }: KnownFields, value: object): boolean {
  let at = 0;
  // Inherited members do not have to be skipped, because they can only make the comparison fail.
  // oxlint-disable-next-line guard-for-in
  for (const name in value) {
    if (name !== order[at]) return false;
    at += 1;
  }
  return true;
}

function hasKnownOnly(known: KnownFields, value: object): boolean {
  if (known.settled) return true;
  const names = Object.keys(value);
  for (const name of names) if (!known.names.has(name)) return false;
  known.order = names;
  return true;
}

interface UnknownSearch {
  /** The fields found so far, keyed by their path without indices so that each field is reported only once. */
  readonly found: Map<string, UnknownField>;
  /** The names and indices that lead to the current value. */
  readonly path: (string | number)[];
  readonly max: number;
  /** The number of unknown members checked so far. */
  examined: number;
}

const isOver = ({ found, max, examined }: UnknownSearch) => found.size >= max || examined >= MAX_EXAMINED;

function collectUnknown(search: UnknownSearch, shape: ObjectShape, value: unknown): void {
  const { path } = search;
  if (typeof value !== 'object' || value === null || path.length > MAX_DEPTH || isOver(search)) return;
  const below = (step: string | number, inner: ObjectShape, child: unknown) => {
    path.push(step);
    collectUnknown(search, inner, child);
    path.pop();
  };
  if (Array.isArray(value)) {
    const { elements } = shape;
    if (elements === undefined) return;
    for (const [index, element] of value.entries()) {
      if (isOver(search)) return;
      below(index, elements, element);
    }
    return;
  }
  const known = shape.object;
  if (known === undefined) return;
  const members = value as Readonly<Record<string, unknown>>;
  if (!known.settled) {
    let place: string | undefined;
    for (const name of Object.keys(members)) {
      if (known.names.has(name)) continue;
      if (isOver(search)) return;
      search.examined += 1;
      place ??= path.map((step) => (typeof step === 'number' ? '*' : step)).join('/');
      reportUnknown(search, place, name, members[name]);
    }
  }
  for (const { name, shape: inner } of known.inner) if (Object.hasOwn(members, name)) below(name, inner, members[name]);
}

/**
 * Reports a field, unless a field with the same name has already been reported at the same location in another item.
 */
function reportUnknown({ found, path }: UnknownSearch, above: string, name: string, value: unknown): void {
  const shown = plainName(name);
  const place = `${above}/${shown}`;
  if (found.has(place)) return;
  const within = pointerTo(path);
  found.set(place, { within, at: `${within}/${shown}`, value });
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

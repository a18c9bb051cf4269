import { pointerTo } from '../../lib/json-pointer.ts';
import { plainName } from '../../privacy/shown-name.ts';
import type { FieldShape, KnownFields, ObjectShape } from './compile-field-shape.ts';
import { describeValue, SIZE_ONLY } from '../../privacy/describe-value.ts';
import { UNDOCUMENTED_FIELD, type Violation } from '../../model/violation.ts';
import type { SchemaPlace } from './schema-violation.ts';

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

/** The maximum depth of the search. No documented value is nested this deeply. */
const MAX_DEPTH = 64;

/**
 * The maximum number of unknown members that are checked. The limit is needed because a sender can invent any number of
 * names.
 */
const MAX_EXAMINED = 2000;

const NONE: readonly UnknownField[] = [];

/**
 * Returns the fields in a value that the contract does not document, at every level that the contract describes. If a
 * field occurs in several items in a list, only its first occurrence is returned. At most `max` fields are returned.
 */
export function findUnknownFields(shape: FieldShape, value: unknown, max: number): readonly UnknownField[] {
  // Nearly all responses have no unknown fields, so the first check is a faster one that does not record paths.
  if (shape === undefined || !hasUnknown(shape, value, 0)) return NONE;
  const search: Search = { found: new Map(), path: [], max, examined: 0 };
  collect(search, shape, value);
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
  // Inherited members can only cause a mismatch.
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

interface Search {
  /** The fields found so far, keyed by their path without indices so that each is reported only once. */
  readonly found: Map<string, UnknownField>;
  /** The names and indices that lead to the current value. */
  readonly path: (string | number)[];
  readonly max: number;
  /** The number of unknown members that have been checked. */
  examined: number;
}

const isOver = ({ found, max, examined }: Search) => found.size >= max || examined >= MAX_EXAMINED;

function collect(search: Search, shape: ObjectShape, value: unknown): void {
  const { path } = search;
  if (typeof value !== 'object' || value === null || path.length > MAX_DEPTH || isOver(search)) return;
  const below = (step: string | number, inner: ObjectShape, child: unknown) => {
    path.push(step);
    collect(search, inner, child);
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
      report(search, place, name, members[name]);
    }
  }
  for (const { name, shape: inner } of known.inner) if (Object.hasOwn(members, name)) below(name, inner, members[name]);
}

/**
 * Reports a field, unless a field with the same name has already been reported at the same location in another item.
 */
function report({ found, path }: Search, above: string, name: string, value: unknown): void {
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

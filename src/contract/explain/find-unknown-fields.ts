import { pointerTo } from '../../lib/json-pointer.ts';
import { plainName } from '../../privacy/client-text.ts';
import type { FieldShape, KnownFields, ObjectShape } from './field-shape.ts';

/** A field that the contract does not know. */
export interface UnknownField {
  /** JSON pointer to the object that has it. */
  readonly within: string;
  /** JSON pointer to the field; its name is `?` where it must not be repeated. */
  readonly at: string;
  readonly value: unknown;
}

/** No document is nested as deeply as this; what is deeper is not looked at. */
const MAX_DEPTH = 64;

/** The most unknown members that are looked at: a sender can make up any number of names, and each has to be checked. */
const MAX_EXAMINED = 5000;

const NONE: readonly UnknownField[] = [];

/**
 * The fields of a value that the contract does not know, at every level that it describes. A field that many items of a
 * list have is told once, for the first of them; at most `max` are told.
 */
export function findUnknownFields(shape: FieldShape, value: unknown, max: number): readonly UnknownField[] {
  // Nearly every answer has none, which is known without remembering where one is.
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

/** Compares names by their order alone, which costs a look at each and nothing to look up. */
function hasLastOrder({ order }: KnownFields, value: object): boolean {
  let at = 0;
  // Whatever an object may inherit only makes it look less like the last one.
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
  /** By place with indices left out, so that each field is told once. */
  readonly found: Map<string, UnknownField>;
  /** Names and indices down to where the search is. */
  readonly path: (string | number)[];
  readonly max: number;
  /** Unknown members that were looked at. */
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

/** Reports a field, unless one of the same name was reported at the same place of another item. */
function report({ found, path }: Search, above: string, name: string, value: unknown): void {
  const shown = plainName(name);
  const place = `${above}/${shown}`;
  if (found.has(place)) return;
  const within = pointerTo(path);
  found.set(place, { within, at: `${within}/${shown}`, value });
}

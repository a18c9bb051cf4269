import { escapePointer, keysOf } from '../lib/json-pointer.ts';
import type { PlaceSchema } from '../learner/place-schema.ts';
import { type Marks, marksOf } from './marks.ts';

/** Where a group of comparisons belongs: one operation, the status on the old server, and one caller. */
export interface Scope {
  readonly operation: string | undefined;
  readonly status: number;
  readonly role: string;
  /** True if items have further fields, which the request has asked for. */
  readonly isOpen: boolean;
}

/** A place as plain data. */
export interface PlaceRef extends Scope {
  readonly location: Place['location'];
  readonly at: string;
}

/** One place in the responses of a scope, without indices, and what has been counted there. */
export interface Place {
  readonly scope: Scope;
  readonly location: 'status' | 'header' | 'body';
  /** A JSON pointer with `*` for every index, or the name of a header. Empty for a status and for a whole body. */
  readonly at: string;
  readonly marks: Marks;
  /** How many pairs of values were compared here. */
  compared: number;
  different: number;
  muted: number;
  /** The place of a member of an object. */
  member(name: string): Place;
  /** The place of the elements of a list. */
  items(): Place;
  /** The names of the members that have another name, with that name. */
  readonly aliases: ReadonlyMap<string, string>;
  /** The name of the member that is the list of an envelope. Undefined if the contract describes no sorted list here. */
  readonly listName: string | undefined;
  /** The places inside this one for which there are counts. */
  inner(): Iterable<Place>;
}

/**
 * The maximum number of names that are told apart in one object. A server that uses ids as names would otherwise fill
 * the memory. Further names share a place.
 */
const MAX_MEMBERS = 300;
const OTHER = '?';
/** The name of the member that identifies an object. */
export const ID = 'id';

/** The places of one scope: the status, the content type, and the whole body. */
export interface ScopePlaces {
  readonly status: Place;
  readonly mediaType: Place;
  /** The other headers that are compared, by their names. */
  readonly headers: ReadonlyMap<string, Place>;
  readonly body: Place;
}

/** The headers, besides the content type, that clients act upon. */
export const COMPARED_HEADERS = ['location', 'www-authenticate', 'content-disposition', 'content-language'] as const;

/** Creates the places of a scope, whose bodies have the given schema. */
export function createScopePlaces(scope: Scope, schema: PlaceSchema | undefined): ScopePlaces {
  const header = (name: string) => createPlace(scope, 'header', name, undefined, marksOf(undefined));
  return {
    status: createPlace(scope, 'status', '', undefined, marksOf(undefined)),
    mediaType: header('content-type'),
    headers: new Map(COMPARED_HEADERS.map((name) => [name, header(name)])),
    body: createPlace(scope, 'body', '', schema, marksOf(schema)),
  };
}

function createPlace(
  scope: Scope,
  location: Place['location'],
  at: string,
  schema: PlaceSchema | undefined,
  marks: Marks,
): Place {
  const members = new Map<string, Place>();
  let items: Place | undefined;
  let aliases: ReadonlyMap<string, string> | undefined;
  let list: { readonly name: string | undefined } | undefined;
  const create = (step: string, inner: PlaceSchema | undefined) => {
    const found = marksOf(inner, marks);
    const innerAt = `${at}/${step}`;
    // An object's own id is recognized by its name, and then its kind is the place.
    const own = step === ID && found.identity === undefined ? { ...found, identity: innerAt } : found;
    return createPlace(scope, location, innerAt, inner, own);
  };
  return {
    scope,
    location,
    at,
    marks,
    compared: 0,
    different: 0,
    muted: 0,
    member(name) {
      const known = members.get(name);
      if (known !== undefined) return known;
      const isFull = members.size >= MAX_MEMBERS;
      if (isFull && members.has(OTHER)) return members.get(OTHER) as Place;
      const place = isFull ? create(OTHER, undefined) : create(escapePointer(name), schema?.member(name));
      members.set(isFull ? OTHER : name, place);
      return place;
    },
    items: () => (items ??= create('*', schema?.items())),
    get aliases() {
      return (aliases ??= aliasesOf(schema));
    },
    get listName() {
      return (list ??= { name: namesIn(schema).find((name) => marksOf(schema?.member(name)).sortKeys !== undefined) })
        .name;
    },
    *inner() {
      yield* members.values();
      if (items !== undefined) yield items;
    },
  };
}

/** Returns the aliases of an object's members in both directions. */
function aliasesOf(schema: PlaceSchema | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of namesIn(schema)) {
    const { alias } = marksOf(schema?.member(name));
    if (alias !== undefined) found.set(name, alias).set(alias, name);
  }
  return found;
}

/** Returns the names of the members that the contract describes. */
const namesIn = (schema: PlaceSchema | undefined): readonly string[] => [
  ...new Set(schema?.sites.flatMap((site) => Object.keys(site.schema.properties ?? {}))),
];

/** Returns the place inside a body to which a pointer leads. */
export function placeAt(body: Place, at: string): Place {
  let place = body;
  for (const step of keysOf(at)) place = step === '*' ? place.items() : place.member(step);
  return place;
}

/** Yields a place and all places inside it that were compared. */
export function* placesIn(place: Place): Iterable<Place> {
  if (place.compared > 0 || place.different > 0) yield place;
  for (const inner of place.inner()) yield* placesIn(inner);
}

import type { SchemaObject } from '../engine/contract/openapi-document.ts';
import type { PlaceSchema } from '../learner/place-schema.ts';

/** What a string means, so that two ways of writing the same thing can be told from two different things. */
type TextKind = 'date' | 'html' | 'address' | 'slug';

/** What a number in an envelope states. */
export type Counted = 'list' | 'total' | 'pages' | 'size' | 'page';

/** What the contract says about one place in a response, as far as a comparison of two servers needs it. */
export interface Marks {
  /** False if the contract says nothing about the place. */
  readonly isDescribed: boolean;
  /** The kind of thing whose id the value is. */
  readonly identity: string | undefined;
  /** True if the value changes by itself. Its type, form and presence are compared nevertheless. */
  readonly isVolatile: boolean;
  readonly text: TextKind | undefined;
  readonly counts: Counted | undefined;
  /** The field by which a list is sorted, for each name of a sort order. Null if items do not show it. */
  readonly sortKeys: Readonly<Record<string, string | null>> | undefined;
  /** Another name under which a server may send the field. */
  readonly alias: string | undefined;
  readonly isPersonal: boolean;
  readonly isPrivate: boolean;
  /** The words that the contract lists for the value. Only they may be shown. */
  readonly words: ReadonlySet<string>;
}

const NOTHING: Marks = {
  isDescribed: false,
  identity: undefined,
  isVolatile: false,
  text: undefined,
  counts: undefined,
  sortKeys: undefined,
  alias: undefined,
  isPersonal: false,
  isPrivate: false,
  words: new Set(),
};

/** Reads the marks of a place. A place that the contract does not describe has none. */
export function marksOf(schema: PlaceSchema | undefined, within: Pick<Marks, 'isPersonal'> = NOTHING): Marks {
  if (schema === undefined) return within.isPersonal ? { ...NOTHING, isPersonal: true } : NOTHING;
  const schemas = schema.sites.map((site): SchemaObject => site.schema);
  const first = (name: string): unknown => schemas.map((one) => one[name]).find((value) => value !== undefined);
  return {
    isDescribed: true,
    // The extensions have been checked when the contract was read.
    identity: first('x-identity') as Marks['identity'],
    isVolatile: first('x-volatile') === true,
    text: first('x-text') as Marks['text'],
    counts: first('x-counts') as Marks['counts'],
    sortKeys: first('x-sort-keys') as Marks['sortKeys'],
    alias: first('x-alias') as Marks['alias'],
    isPersonal: within.isPersonal || schema.personal,
    isPrivate: first('x-private-field') === true,
    words: new Set(schemas.flatMap(wordsIn)),
  };
}

function wordsIn(schema: SchemaObject): string[] {
  const listed: readonly unknown[] = [...(schema.enum ?? []), ...(schema['x-expected-enum'] ?? []), schema['const']];
  return listed.filter((word) => typeof word === 'string');
}

import type { Exploration } from './exploration.ts';
import type { ContractRules } from './rules.ts';
import type { ParameterValues } from './values.ts';

/**
 * What Portico must know of an API beyond its contract. The engine knows an API only through its contract and its
 * profile.
 */
export interface Profile extends ContractRules {
  /** The path under which all of the API's addresses lie, with a slash at both ends. */
  readonly basePath: string;
  /** The words in the API's paths that never identify a person, so that logs and reports may show them. */
  readonly pathWords: ReadonlySet<string>;
  /** A path that every server of the API has and that needs a credential. Verification asks for it by default. */
  readonly probePath: string;
  /** How programs explore a server of the API. */
  readonly exploration: Exploration;
  readonly items: ItemFacts;
  readonly examples: Examples;
  readonly findOwner: FindOwner;
  /**
   * Returns the tags of the stored responses that a successful write to an undocumented path may have changed. Undefined
   * if they are unknown, in which case the whole cache is purged.
   */
  readonly purgedBy: (path: string) => readonly string[] | undefined;
}

/** Requests for the API, with which the banner and help texts show what to do. Targets are below `basePath`. */
export interface Examples {
  /** The id of an operation that lists things. */
  readonly operation: string;
  /** A target of this operation. */
  readonly accepted: string;
  /** A target that the contract does not allow. */
  readonly invalid: string;
  /** A target that not everybody may request. */
  readonly restricted: string;
}

/** What the engine reads from the items in responses. */
export interface ItemFacts {
  /** The kind of the items, which is the first part of the tags of stored responses: `node` in `node:5`. */
  readonly kind: string;
  /** Returns the names that lead to the id within an item. `itemsAt` states where the items are. */
  readonly idOf: (itemsAt: string) => readonly string[];
  /** Returns an item's id and the name of its author, or undefined if it has no author that matters for ownership. */
  readonly authorOf: (item: Readonly<Record<string, unknown>>) => Authorship | undefined;
  /** The JSON pointers within an item to everything that `authorOf` reads. */
  readonly authorAt: readonly string[];
}

/** An object and its author. */
export type Authorship = readonly [id: string, authorName: string];

/** Whose an object is: that of the author of the object with an id, that of a named author, or everybody's. */
export type Owner =
  | { readonly kind: 'author of'; readonly id: string }
  | { readonly kind: 'author'; readonly name: string }
  | { readonly kind: 'everybody' }
  | { readonly kind: 'unknown' };

/**
 * Returns whose the object is to which a request refers. `lookUp` fetches a target with the caller's credential. It is
 * undefined if nothing may be looked up.
 */
export type FindOwner = (
  path: ParameterValues['path'],
  lookUp: ((target: string) => Promise<unknown>) | undefined,
) => Owner | Promise<Owner>;

import type { Clock } from '../../lib/clock.ts';
import { valueAt } from '../../lib/json-pointer.ts';
import { createLruMap } from '../../lib/bounded-maps.ts';
import { canonicalName, nameKeyFor, type NameRule } from '../model/caller-name.ts';
import type { Principal } from '../model/principal.ts';
import type { OwnershipOptions } from './permissions-options.ts';

/**
 * Asks the upstream for a node's author, with the caller's credential. Returns undefined if the author cannot be
 * determined.
 */
export type AuthorLookup = (nodeId: string, principal: Principal) => Promise<string | undefined>;

/** Whether a caller is the author of a node. */
export type OwnershipState = 'own' | 'other' | 'unknown';

/** A cache of node authors, which come from valid responses and from the configured lookup. */
export interface Ownership {
  /**
   * Stores an author found in a valid response. Ids are strings, because they have 64 bits. `at` is the time of the
   * response in epoch milliseconds, and defaults to the current time.
   */
  learn(nodeId: string, authorName: string, at?: number): void;
  /** Returns the author of a node, or undefined if the author is not cached. */
  authorOf(nodeId: string): string | undefined;
  /**
   * Returns whether the caller is the author of a node. Looks up the author if necessary, with `lookUp` if it is given.
   * If the lookup fails, the result is `unknown`.
   */
  of(principal: Principal, nodeId: string, lookUp?: AuthorLookup): Promise<OwnershipState>;
  /** Returns whether the caller is this author. The result is `unknown` if the author is unknown. */
  compare(principal: Principal, author: string | undefined): OwnershipState;
}

/**
 * Creates an author cache that has a limited size and an optional lookup. `names` is the rule for comparing the caller's
 * name with the author's.
 */
export function createOwnership(
  options: OwnershipOptions,
  clock: Clock,
  names: NameRule,
  configured?: AuthorLookup,
): Ownership {
  const compare: Ownership['compare'] = (principal, author) => ownershipOf(principal, author, names);
  const authors = createLruMap<string, { readonly name: string; learnedAt: number }>(options.maxEntries);

  const learn = (nodeId: string, name: string, at = clock()) => {
    const known = authors.get(nodeId);
    // Most nodes on a page are already in the cache, and inserting every node again would take longer than validating
    // the page.
    if (known?.name === name) known.learnedAt = at;
    else authors.set(nodeId, { name, learnedAt: at });
  };
  const authorOf = (nodeId: string) => {
    const author = authors.get(nodeId);
    return author && clock() - author.learnedAt < options.maxAgeSeconds * 1000 ? author.name : undefined;
  };
  async function requestAuthor(principal: Principal, nodeId: string, lookUp: AuthorLookup | undefined) {
    const name = await lookUp?.(nodeId, principal).catch(() => undefined);
    if (name !== undefined) learn(nodeId, name);
    return name;
  }

  return {
    learn,
    authorOf,
    compare,
    async of(principal, nodeId, lookUp = configured) {
      const remembered = authorOf(nodeId);
      // Only a verified caller's name can be compared with the author's.
      const needsLookUp = remembered === undefined && principal.kind === 'verified';
      return compare(principal, needsLookUp ? await requestAuthor(principal, nodeId, lookUp) : remembered);
    },
  };
}

/**
 * Returns whether the caller is the author. The result is `unknown` if the author is unknown, if the caller is
 * unverified, or if the author's name is another spelling of the caller's, because only the server knows whether both
 * names belong to one person.
 */
export function ownershipOf(
  { kind, name = '' }: Pick<Principal, 'kind' | 'name'>,
  author: string | undefined,
  names: NameRule,
): OwnershipState {
  if (kind === 'anonymous') return 'other';
  // An unverified caller may have given a false name.
  if (kind === 'unverified' || author === undefined) return 'unknown';
  const nameKey = nameKeyFor(names);
  if (nameKey(author) === nameKey(name)) return 'own';
  return canonicalName(author) === canonicalName(name) ? 'unknown' : 'other';
}

/**
 * Fetches a target with the caller's credential. Returns the JSON of a successful response. Returns undefined for any
 * other response.
 */
export type FetchJson = (target: string, principal: Principal) => Promise<unknown>;

/** Creates the function that looks up a node's author. Returns undefined if no lookup is configured. */
export function createAuthorLookup(options: OwnershipOptions, fetchJson: FetchJson): AuthorLookup | undefined {
  const { lookup, authorPointer } = options;
  if (lookup === undefined) return undefined;
  return async (nodeId, principal) => {
    const node = await fetchJson(lookup.replaceAll('{nodeId}', encodeURIComponent(nodeId)), principal);
    const author = valueAt(node, authorPointer);
    return typeof author === 'string' && author !== '' ? author : undefined;
  };
}

import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import { valueAt } from '../lib/json-pointer.ts';
import type { Principal } from '../model/principal.ts';
import type { OwnershipOptions } from './permissions-options.ts';

/** Asks the upstream for a node's author with the caller's own credential; undefined when it does not tell. */
export type AuthorLookUp = (nodeId: string, principal: Principal) => Promise<string | undefined>;

/** Knows whose a node is, from valid answers and from the configured look-up. */
export interface Ownership {
  /** Notes the author that a valid answer showed; ids as text, because they have 64 bits. */
  learn(nodeId: string, authorName: string): void;
  /** The author as far as remembered. */
  authorOf(nodeId: string): string | undefined;
  /** Whether the caller is the author, asking the upstream when nobody remembers; a failed look-up is `unknown`. */
  of(principal: Principal, nodeId: string): Promise<'own' | 'other' | 'unknown'>;
}

/** A bounded memory of authors in front of an optional look-up. */
export function createOwnership(options: OwnershipOptions, clock: Clock, lookUp?: AuthorLookUp): Ownership {
  const authors = new LRUCache<string, { readonly name: string; learnedAt: number }>({ max: options.maxEntries });

  const learn = (nodeId: string, name: string) => {
    const known = authors.get(nodeId);
    // A page shows many nodes that were known before; putting each in anew would take longer than judging the page.
    if (known?.name === name) known.learnedAt = clock();
    else authors.set(nodeId, { name, learnedAt: clock() });
  };
  const authorOf = (nodeId: string) => {
    const author = authors.get(nodeId);
    return author && clock() - author.learnedAt < options.maxAgeSeconds * 1000 ? author.name : undefined;
  };
  async function ask(principal: Principal, nodeId: string): Promise<string | undefined> {
    const name = await lookUp?.(nodeId, principal).catch(() => undefined);
    if (name !== undefined) learn(nodeId, name);
    return name;
  }

  return {
    learn,
    authorOf,
    async of(principal, nodeId) {
      const remembered = authorOf(nodeId);
      // Only a verified caller's name can be compared with what a look-up tells.
      const asks = remembered === undefined && principal.kind === 'verified';
      return ownershipOf(principal, asks ? await ask(principal, nodeId) : remembered);
    },
  };
}

/** Whether a caller is the author of something; `unknown` where nobody knows the author or who the caller is. */
export function ownershipOf(
  { kind, name }: Pick<Principal, 'kind' | 'name'>,
  author: string | undefined,
): 'own' | 'other' | 'unknown' {
  if (kind === 'anonymous') return 'other';
  // A claimed name owns nothing, and nothing is known of it either.
  if (kind === 'unverified' || author === undefined) return 'unknown';
  return author === name ? 'own' : 'other';
}

/** Fetches a target under the base address with the caller's own credential; parsed JSON of a success, else undefined. */
export type FetchJson = (target: string, principal: Principal) => Promise<unknown>;

/** The configured look-up of a node's author; undefined where none is configured. */
export function createAuthorLookUp(options: OwnershipOptions, fetchJson: FetchJson): AuthorLookUp | undefined {
  const { lookup, authorPointer } = options;
  if (lookup === undefined) return undefined;
  return async (nodeId, principal) => {
    const node = await fetchJson(lookup.replaceAll('{nodeId}', encodeURIComponent(nodeId)), principal);
    const author = valueAt(node, authorPointer);
    return typeof author === 'string' && author !== '' ? author : undefined;
  };
}

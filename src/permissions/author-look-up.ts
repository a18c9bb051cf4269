import { valueAt } from '../lib/value-at.ts';
import type { Principal } from '../model/principal.ts';
import type { AuthorLookUp } from './ownership.ts';
import type { OwnershipOptions } from './permissions-options.ts';

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

import type { Principal } from '../model/principal.ts';
import type { AuthorLookUp } from './ownership.ts';
import type { OwnershipOptions } from './permissions-options.ts';

/** Fetches a target under the base address with the caller's own credential; parsed JSON of a success, else undefined. */
export type FetchJson = (target: string, principal: Principal) => Promise<unknown>;

/** The configured look-up of a node's author; undefined where none is configured. */
export function createAuthorLookUp(options: OwnershipOptions, fetchJson: FetchJson): AuthorLookUp | undefined {
  const { lookup, authorPointer } = options;
  if (lookup === undefined) return undefined;
  const steps = authorPointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return async (nodeId, principal) => {
    const node = await fetchJson(lookup.replaceAll('{nodeId}', encodeURIComponent(nodeId)), principal);
    const author = steps.reduce(memberOf, node);
    return typeof author === 'string' && author !== '' ? author : undefined;
  };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

import type { Principal } from '../model/principal.ts';
import type { Audience } from './operation-cache-options.ts';

/** Returns true if other callers receive what is stored for this audience. */
export function isShared(audience: string): boolean {
  return !audience.startsWith('caller:');
}

/**
 * Returns the audience part of a cache key. `grantsKey` identifies the caller's permissions; undefined if they are unknown.
 * The audience is the caller alone for a demoted operation, an unverified principal and unknown permissions.
 */
export function audienceOf(
  setting: Audience,
  principal: Principal,
  grantsKey: string | undefined,
  demoted: boolean,
): string {
  const own = `caller:${principal.kind}:${principal.audience}`;
  if (demoted || setting === 'caller' || principal.kind === 'unverified') return own;
  if (setting === 'public') return 'public';
  return grantsKey === undefined ? own : `permissions:${grantsKey}`;
}

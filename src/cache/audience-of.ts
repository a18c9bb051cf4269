import type { Principal } from '../model/principal.ts';
import type { Audience } from './operation-cache-options.ts';

/** Whether other callers are given what is stored for this audience. */
export function isShared(audience: string): boolean {
  return !audience.startsWith('caller:');
}

/**
 * The audience part of a cache key. `grantsKey` names the caller's permissions (undefined where they are not known
 * here); a demoted operation, an unverified principal and unknown permissions always stay with the caller.
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

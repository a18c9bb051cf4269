import type { Principal } from '../model/principal.ts';
import type { Audience } from './cache-options.ts';

/** Returns true if responses stored for this audience are shared with other callers. */
export function isShared(audience: string): boolean {
  return !audience.startsWith('caller:');
}

/**
 * Returns the audience part of a cache key. `grantsKey` identifies the caller's permissions; it is undefined
 * if they are unknown. For a demoted operation, an unverified principal or unknown permissions, the audience is only
 * the caller.
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

/** A fetched response: the audience of the principal that fetched it, and its entity tag. */
interface FetchedResponse {
  readonly caller: string;
  readonly etag: string;
}

/** Checks shared audiences by occasionally comparing the responses of different callers. */
export interface AudienceGuard {
  /** Returns true if the operation's responses were found to depend on the caller. This lasts until the process ends. */
  isDemoted(operationId: string): boolean;
  /** Returns true if this hit on a shared page should be fetched again for the caller and compared. */
  shouldCompare(operationId: string, stored: FetchedResponse | undefined, caller: string): boolean;
  /**
   * Compares the stored response with the caller's own. A difference between two callers demotes the operation. Use it
   * only for fresh pages: a list that has changed since looks like one that depends on the caller.
   */
  compare(operationId: string, stored: FetchedResponse, own: FetchedResponse): 'same' | 'differs' | 'not comparable';
  /** Stores an operation per caller from now on, because a response showed that it depends on the caller. */
  demote(operationId: string): void;
  /** Returns the ids of the demoted operations. */
  demoted(): readonly string[];
}

/** Creates the guard. `random` returns 0 ≤ x < 1; `onDemoted` is called once per operation. */
export function createAudienceGuard(settings: {
  readonly sampleShared: number;
  readonly random: () => number;
  readonly onDemoted?: (operationId: string) => void;
}): AudienceGuard {
  const demoted = new Set<string>();
  const demote = (operationId: string) => {
    if (demoted.has(operationId)) return;
    demoted.add(operationId);
    settings.onDemoted?.(operationId);
  };
  return {
    isDemoted: (operationId) => demoted.has(operationId),
    shouldCompare(operationId, stored, caller) {
      if (stored === undefined || stored.caller === caller || demoted.has(operationId)) return false;
      return settings.random() < settings.sampleShared;
    },
    compare(operationId, stored, own) {
      if (stored.caller === own.caller) return 'not comparable';
      if (stored.etag === own.etag) return 'same';
      demote(operationId);
      return 'differs';
    },
    demote,
    demoted: () => [...demoted],
  };
}

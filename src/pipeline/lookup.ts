import { DEFAULT_JSON_LIMITS, parseBounded, parsedValue } from '../lib/bounded-json.ts';
import type { Principal } from '../model/principal.ts';
import type { Upstream } from '../upstream/create-upstream.ts';

/**
 * Reads a small resource from the upstream with the caller's own credential. Returns undefined if the resource is not
 * available.
 */
export type Lookup = (target: string, principal: Principal) => Promise<unknown>;

/** Creates the function that looks up resources for decisions. If a lookup fails, the decision is made without it. */
export function createLookup(upstream: Upstream): Lookup {
  return async (target, { authorization }) => {
    try {
      const response = await upstream.exchange({
        method: 'GET',
        target,
        headers: [
          ['Accept', 'application/json'],
          ['Content-Type', 'application/json'],
          ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
        ],
        mode: 'buffered',
      });
      if (response.status !== 200 || !Buffer.isBuffer(response.body)) return undefined;
      return parsedValue(parseBounded(response.body, DEFAULT_JSON_LIMITS));
    } catch {
      return undefined;
    }
  };
}

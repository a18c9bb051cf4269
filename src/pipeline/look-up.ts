import { DEFAULT_JSON_LIMITS, parseBounded } from '../lib/bounded-json.ts';
import type { Principal } from '../model/principal.ts';
import type { Upstream } from '../upstream/create-upstream.ts';

/**
 * Reads a small resource from the upstream with the caller's own credential. Returns undefined if it is not available.
 */
export type Lookup = (target: string, principal: Principal) => Promise<unknown>;

/**
 * Creates the look-ups that help to decide about a request before it is forwarded. A failed look-up does not affect the
 * decision.
 */
export function createLookup(upstream: Upstream): Lookup {
  return async (target, { authorization }) => {
    try {
      const answer = await upstream.exchange({
        method: 'GET',
        target,
        headers: [
          ['Accept', 'application/json'],
          ['Content-Type', 'application/json'],
          ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
        ],
        mode: 'buffered',
      });
      if (answer.status !== 200 || !Buffer.isBuffer(answer.body)) return undefined;
      const parsed = parseBounded(answer.body, DEFAULT_JSON_LIMITS);
      return parsed.state === 'parsed' ? parsed.value : undefined;
    } catch {
      return undefined;
    }
  };
}

import { DEFAULT_JSON_LIMITS, parseBounded, parsedValue } from '../../lib/bounded-json.ts';
import type { FetchJson } from '../permissions/ownership.ts';
import type { Upstream } from '../upstream/create-upstream.ts';
import type { Sessions } from '../upstream/sessions.ts';

/**
 * Creates the function that looks up the resources on which decisions depend. If a lookup fails, the decision is made
 * without its result.
 */
export function createLookup(upstream: Upstream, sessions: Sessions): FetchJson {
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
        session: sessions.of(authorization),
        mode: 'buffered',
      });
      if (response.status !== 200 || !Buffer.isBuffer(response.body)) return undefined;
      return parsedValue(parseBounded(response.body, DEFAULT_JSON_LIMITS));
    } catch {
      return undefined;
    }
  };
}

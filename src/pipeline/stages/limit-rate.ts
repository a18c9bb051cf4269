import type { Grants } from '../../permissions/decide.ts';
import type { RateLimiter } from '../rate-limiter.ts';
import type { Stage, StagePlanner } from '../stage.ts';

/** Refuses requests that exceed a budget configured in `rateLimits`. */
export function limitRate(limiter: RateLimiter | undefined): StagePlanner {
  return {
    name: 'limit-rate',
    plan({ operation, transparent }) {
      const rules = limiter?.rulesFor(operation.id) ?? [];
      if (transparent || limiter === undefined || rules.length === 0) return undefined;
      return limitBy((exchange) => limiter.count(rules, exchange, limitedRoles(exchange.grants)));
    },
  };
}

/** Returns the roles whose rate limits apply to a caller. */
export const limitedRoles = ({ roles, spells }: Pick<Grants, 'roles' | 'spells'>) => spells?.roles ?? roles;

/** Returns a stage that counts each request before the rest of the plan runs. */
export function limitBy<E>(count: (exchange: E) => Promise<void>): Stage<E> {
  return (next) => async (exchange) => {
    await count(exchange);
    return next(exchange);
  };
}

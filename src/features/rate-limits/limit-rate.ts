import type { Grants } from '../../engine/permissions/decide.ts';
import type { FeatureStage, Stage } from '../../engine/pipeline/stage.ts';
import type { RateLimiter } from './rate-limiter.ts';

/**
 * Refuses requests that exceed a budget configured in `rateLimits`. If `isPassive` is true, the stage decides the same
 * but counts nothing.
 */
export function limitRate(limiter: RateLimiter, isPassive = false): FeatureStage {
  return {
    name: 'limit-rate',
    before: 'authorize',
    plan({ operation, transparent }) {
      const rules = limiter.rulesFor(operation.id);
      if (transparent || rules.length === 0) return undefined;
      return limitBy((exchange) => limiter.count(rules, exchange, limitedRoles(exchange.grants), isPassive));
    },
    planUndocumented({ transparent, grantsOf }) {
      const rules = limiter.rulesFor(undefined);
      if (transparent || rules.length === 0) return undefined;
      return limitBy((exchange) => limiter.count(rules, exchange, limitedRoles(grantsOf(exchange)), isPassive));
    },
  };
}

/** Returns the roles whose rate limits apply to a caller. */
export const limitedRoles = ({ roles, spells }: Pick<Grants, 'roles' | 'spells'>) => spells?.roles ?? roles;

/** Returns a stage that counts each request before the rest of the plan runs. */
function limitBy<E>(count: (exchange: E) => Promise<void>): Stage<E> {
  return (next) => async (exchange) => {
    await count(exchange);
    return next(exchange);
  };
}

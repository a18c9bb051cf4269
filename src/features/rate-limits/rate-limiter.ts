import type { ErrorKind } from '../../engine/errors/catalogue.ts';
import { GatewayError } from '../../engine/errors/gateway-error.ts';
import { networkOf } from '../../lib/network-address.ts';
import { countedAs } from '../../engine/model/principal.ts';
import { createTraceSlot } from '../../engine/model/trace-slot.ts';
import type { KnownRequest } from '../../engine/pipeline/exchange.ts';
import type { Counters, Sharing } from '../../engine/sharing/sharing.ts';
import type { RateLimitRule } from './options.ts';

/** The error of a request that exceeds a budget. */
export const RATE_LIMITED: ErrorKind = { code: 'rate_limited', status: 429, title: 'Too many requests' };

/** The budgets that a request used, as header values (draft-ietf-httpapi-ratelimit-headers). */
interface UsedBudgets {
  readonly policy: string;
  readonly state: string;
  /** The rule that refused the request. */
  readonly refusedBy: string | undefined;
}

/** The place of the budgets in a request's trace. */
export const BUDGETS = createTraceSlot<UsedBudgets>();

/** Counts requests against the rules in `rateLimits`. */
export interface RateLimiter {
  /** Returns the rules that can apply to an operation, or to undocumented paths. */
  rulesFor(operation: string | undefined): readonly Limit[];
  /**
   * Counts a request, and records the budgets in its trace. Rejects with a `GatewayError` if a budget is exhausted. If
   * `isPeek` is true, only checks whether a request would be refused, and counts nothing.
   */
  count(rules: readonly Limit[], request: KnownRequest, roles: readonly string[], isPeek: boolean): Promise<void>;
}

/** A rule from `rateLimits` with its counters. */
interface Limit extends RateLimitRule {
  readonly counters: Counters;
}

interface RateLimiterParts {
  readonly rules: readonly RateLimitRule[];
  readonly sharing: Pick<Sharing, 'counters'>;
  /**
   * The maximum number of budgets per rule in this process. If there are more, the least recently used budget is dropped, so its
   * owner starts over with a full budget.
   */
  readonly maxBudgets?: number;
  /** Called for each request that a rule refuses. */
  readonly onLimited: (rule: string, operation: string | undefined) => void;
}

const MAX_BUDGETS = 50_000;

/** Creates the limiter. */
export function createRateLimiter({
  rules,
  sharing,
  maxBudgets = MAX_BUDGETS,
  onLimited,
}: RateLimiterParts): RateLimiter {
  const limits = rules.map((rule) => ({ ...rule, counters: sharing.counters(rule.name, maxBudgets) }));
  return {
    rulesFor: (operation) =>
      limits.filter(({ operations }) => operations === undefined || (operation && operations.includes(operation))),
    async count(applicable, request, roles, isPeek) {
      const counted = await Promise.all(
        applicable.flatMap((rule) => {
          const who = budgetOwner(rule, request, roles);
          return who === undefined ? [] : [countOne(rule, who, isPeek)];
        }),
      );
      if (counted.length === 0) return;
      const refused = counted.filter(({ isUsedUp }) => isUsedUp).sort((a, b) => b.seconds - a.seconds)[0];
      BUDGETS.set(request.trace, {
        policy: counted.map(({ rule }) => `"${rule.name}";q=${rule.requests};w=${rule.windowSeconds}`).join(', '),
        state: counted.map(({ rule, left, seconds }) => `"${rule.name}";r=${left};t=${seconds}`).join(', '),
        refusedBy: refused?.rule.name,
      });
      if (refused === undefined) return;
      if (!isPeek) onLimited(refused.rule.name, request.trace.operation);
      throw new GatewayError(RATE_LIMITED, `Too many requests. Try again in ${refused.seconds} seconds.`, {
        headers: { 'Retry-After': String(refused.seconds) },
      });
    },
  };
}

/** Counts a request against a budget, or returns what counting it would return. */
async function countOne(rule: Limit, owner: string, isPeek: boolean) {
  const windowMs = rule.windowSeconds * 1000;
  const { count, leftMs } = await (isPeek ? rule.counters.read(owner, windowMs) : rule.counters.add(owner, windowMs));
  return {
    rule,
    isUsedUp: count > rule.requests,
    left: Math.max(0, rule.requests - count),
    seconds: Math.max(1, Math.ceil(leftMs / 1000)),
  };
}

/**
 * Returns the owner of the budget that a request uses, or undefined if the rule does not apply. An unverified caller
 * uses the budget of its network, so a forged name cannot exhaust another caller's budget.
 */
function budgetOwner(rule: RateLimitRule, { principal, arrival }: KnownRequest, roles: readonly string[]) {
  const role = rule.roles?.find((one) => roles.includes(one));
  if (rule.roles !== undefined && role === undefined) return undefined;
  if (rule.per === 'role') return `role:${role ?? ''}`;
  if (rule.per === 'caller' && principal.kind === 'verified') return countedAs(principal);
  return `network:${networkOf(arrival.clientAddress)}`;
}

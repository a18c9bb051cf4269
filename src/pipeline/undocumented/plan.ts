import type { Checks } from '../../model/checks.ts';
import type { PassthroughExchange } from '../exchange.ts';
import type { Handler, Stage } from '../stage.ts';
import type { RateLimiter } from '../rate-limiter.ts';
import { limitBy, limitedRoles } from '../stages/limit-rate.ts';
import { authorize, type UndocumentedAccess } from './authorize.ts';
import { forwardUndocumented, type ForwardUndocumentedServices } from './forward.ts';
import type { AllowEntry } from './policy.ts';
import { mayWrite, purgeTags, type UndocumentedPurge } from './purge-tags.ts';
import { type AddressServices, rewriteAddresses, findAddresses } from './rewrite-addresses.ts';

/** The plan for undocumented paths: its composed handler and the names of its stages, outermost first. */
export interface UndocumentedPlan {
  /** Always undefined. Distinguishes this plan from the plan of an operation. */
  readonly operation: undefined;
  readonly cache: undefined;
  /** True if requests and responses are forwarded unchanged, as in `observe` mode. */
  readonly transparent: boolean;
  /** The names of the stages. Empty if the policy does not allow any requests. */
  readonly stages: readonly string[];
  readonly handle: Handler<PassthroughExchange>;
}

/** The dependencies of the plan for undocumented paths. */
export interface UndocumentedPlanParts extends AddressServices, ForwardUndocumentedServices {
  readonly checks: Pick<Checks, 'undocumented' | 'permissions'>;
  readonly allow: readonly AllowEntry[];
  readonly access: UndocumentedAccess;
  /** Counts requests against `rateLimits`. Undefined if `rateLimits` is not configured. */
  readonly rateLimiter?: RateLimiter | undefined;
  readonly purge: UndocumentedPurge;
}

/** Compiles the plan for undocumented paths, using only the stages that apply. */
export function compileUndocumentedPlan(parts: UndocumentedPlanParts): UndocumentedPlan {
  const { transparent, checks, allow, access, rateLimiter, purge } = parts;
  const forwardsAnything = transparent || checks.undocumented !== 'enforce' || allow.length > 0;
  const needsPermission = checks.permissions !== 'off' && allow.some(({ permission }) => permission !== undefined);
  const stages: [name: string, stage: Stage<PassthroughExchange>][] = [];
  const rules = rateLimiter?.rulesFor(undefined) ?? [];
  if (rateLimiter !== undefined && !transparent && rules.length > 0) {
    const rolesOf = ({ principal }: PassthroughExchange) =>
      limitedRoles(access.grantsOf(principal, checks.permissions));
    stages.push(['limit-rate', limitBy((exchange) => rateLimiter.count(rules, exchange, rolesOf(exchange)))]);
  }
  if (access.serviceCredential || needsPermission) stages.push(['authorize', authorize(checks.permissions, access)]);
  if (transparent || allow.some(({ method }) => mayWrite(method))) stages.push(['purge-tags', purgeTags(purge)]);
  if (transparent) stages.push(['find-addresses', findAddresses(parts)]);
  else stages.push(['rewrite-addresses', rewriteAddresses(parts)]);
  return {
    operation: undefined,
    cache: undefined,
    transparent,
    stages: forwardsAnything ? [...stages.map(([name]) => name), 'forward'] : [],
    handle: stages.reduceRight((next, [, stage]) => stage(next), forwardUndocumented(parts)),
  };
}

/** Formats the plan as one line of text for `portico plan`. */
export function undocumentedPlanLine({ stages }: UndocumentedPlan): string {
  return `*    undocumented paths   ${stages.length === 0 ? 'refused' : stages.join(' → ')}`;
}

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Checks } from '../../model/checks.ts';
import type { Decision } from '../../model/requirement.ts';
import { UpstreamFailure } from '../../model/upstream-failure.ts';
import type { Permissions } from '../../permissions/compile-permissions.ts';
import type { Grants } from '../../permissions/decide.ts';
import type { PassedExchange } from '../exchange.ts';
import { traceDecision } from '../permission-violation.ts';
import type { Reply } from '../reply.ts';
import type { Handler, Stage } from '../stage.ts';
import { permissionRefusal } from '../stages/authorize.ts';
import { forwardUndocumented, type ForwardUndocumentedServices } from './forward.ts';
import type { AllowEntry } from './policy.ts';
import { mayWrite, passthroughPurges } from './purges.ts';
import { type AddressServices, findAddresses, rewriteAddresses } from './rewrite-addresses.ts';

/** What answers requests for undocumented paths: its folded handler and the names of the stages in it, outermost first. */
export interface UndocumentedPlan {
  /** Tells it from the plan of an operation. */
  readonly operation: undefined;
  readonly cache: undefined;
  /** Raw in both directions, as in `observe`. */
  readonly transparent: boolean;
  /** None where the policy lets nothing pass. */
  readonly stages: readonly string[];
  readonly handle: Handler<PassedExchange>;
}

/** What decides whether a caller may use an undocumented path. */
interface UndocumentedAccess {
  readonly decidePermission: (permission: string, grants: Grants) => Decision;
  readonly grantsOf: Permissions['grantsOf'];
  /** `WWW-Authenticate` of a 401. */
  readonly challenge: string;
  /** True when a service account is configured. */
  readonly serviceCredential: boolean;
}

/** What the plan is compiled from. */
export interface UndocumentedPlanParts extends AddressServices, ForwardUndocumentedServices {
  readonly checks: Pick<Checks, 'undocumented' | 'permissions'>;
  readonly allow: readonly AllowEntry[];
  readonly access: UndocumentedAccess;
  /** Drops what is stored under these tags; everything when undefined. */
  readonly purge: (tags: readonly string[] | undefined) => void;
}

/** Compiles the plan for undocumented paths from the stages that have work; done once, at start. */
export function compileUndocumentedPlan(parts: UndocumentedPlanParts): UndocumentedPlan {
  const { transparent, checks, allow, access, purge } = parts;
  const passesAnything = transparent || checks.undocumented !== 'enforce' || allow.length > 0;
  const needsPermission = checks.permissions !== 'off' && allow.some(({ permission }) => permission !== undefined);
  const stages: [name: string, stage: Stage<PassedExchange>][] = [];
  if (access.serviceCredential || (needsPermission && !transparent))
    stages.push(['authorize', authorize(checks.permissions, access)]);
  if (transparent || allow.some(({ method }) => mayWrite(method))) stages.push(['purge-tags', purgeTags(purge)]);
  if (transparent) stages.push(['find-addresses', findAddresses(parts)]);
  else stages.push(['rewrite-addresses', rewriteAddresses(parts)]);
  return {
    operation: undefined,
    cache: undefined,
    transparent,
    stages: passesAnything ? [...stages.map(([name]) => name), 'forward'] : [],
    handle: stages.reduceRight((next, [, stage]) => stage(next), forwardUndocumented(parts)),
  };
}

/** The plan as one line, as `portico plan` prints it. */
export function undocumentedPlanLine({ stages }: UndocumentedPlan): string {
  return `*    undocumented paths   ${stages.length === 0 ? 'refused' : stages.join(' → ')}`;
}

/** Refuses callers without the permission that the policy names, and those for whom a service account would stand in. */
function authorize(level: Checks['permissions'], access: UndocumentedAccess): Stage<PassedExchange> {
  return (next) => (exchange) => {
    const { permission, principal, trace } = exchange;
    if (permission !== undefined && level !== 'off') {
      const decision = access.decidePermission(permission, access.grantsOf(principal, level));
      traceDecision(trace, level, decision);
      if (decision.verdict === 'denied' && level === 'enforce')
        throw permissionRefusal(undefined, exchange, decision.missing, access.challenge);
    }
    if (access.serviceCredential && principal.authorization === undefined)
      throw new GatewayError('needs_caller_credential', 'This address needs the credential of the caller itself.');
    return next(exchange);
  };
}

/** Purges what a write may have changed, before its client sees the response: what it reads next is not older (rules, 6). */
function purgeTags(purge: UndocumentedPlanParts['purge']): Stage<PassedExchange> {
  return (next) => async (exchange) => {
    const { method, path } = exchange.arrival;
    if (!mayWrite(method)) return next(exchange);
    let reply: Reply;
    try {
      reply = await next(exchange);
    } catch (error) {
      // A write whose response was lost may have been made.
      if (error instanceof UpstreamFailure) purge(passthroughPurges(path));
      throw error;
    }
    if (reply.status < 400 || reply.status >= 500) purge(passthroughPurges(path));
    return reply;
  };
}

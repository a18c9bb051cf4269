import { GatewayError } from '../../errors/gateway-error.ts';
import type { Checks } from '../../model/checks.ts';
import type { Decision } from '../../model/requirement.ts';
import { UpstreamFailure } from '../../model/upstream-failure.ts';
import type { Permissions } from '../../permissions/compile-permissions.ts';
import type { Grants } from '../../permissions/decide.ts';
import type { PassthroughExchange } from '../exchange.ts';
import { traceDecision } from '../decide-permission.ts';
import type { Reply } from '../reply.ts';
import type { Handler, Stage } from '../plan.ts';
import { permissionRefusal } from '../stages/authorize.ts';
import { limitBy, type RateLimiter } from '../stages/limit-rate.ts';
import { forwardUndocumented, type ForwardUndocumentedServices } from './forward.ts';
import type { AllowEntry } from './policy.ts';
import { type AddressServices, findAddresses, rewriteAddresses } from './rewrite-addresses.ts';

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

/** Services that decide whether a caller may use an undocumented path. */
interface UndocumentedAccess {
  readonly decidePermission: (permission: string, grants: Grants) => Decision;
  readonly grantsOf: Permissions['grantsOf'];
  /** The `WWW-Authenticate` header of a 401 response. */
  readonly challenge: string;
  /** True if a service account is configured. */
  readonly serviceCredential: boolean;
}

/** The dependencies of the plan. */
export interface UndocumentedPlanParts extends AddressServices, ForwardUndocumentedServices {
  readonly checks: Pick<Checks, 'undocumented' | 'permissions'>;
  readonly allow: readonly AllowEntry[];
  readonly access: UndocumentedAccess;
  /** Counts requests against `rateLimits`. Undefined if `rateLimits` is not configured. */
  readonly rateLimiter?: RateLimiter | undefined;
  /** Removes the stored responses with these tags, or all stored responses if there is no argument. */
  readonly purge: (tags: readonly string[] | undefined) => unknown;
}

/** Compiles the plan for undocumented paths from the stages that apply, at startup. */
export function compileUndocumentedPlan(parts: UndocumentedPlanParts): UndocumentedPlan {
  const { transparent, checks, allow, access, rateLimiter, purge } = parts;
  const forwardsAnything = transparent || checks.undocumented !== 'enforce' || allow.length > 0;
  const needsPermission = checks.permissions !== 'off' && allow.some(({ permission }) => permission !== undefined);
  const stages: [name: string, stage: Stage<PassthroughExchange>][] = [];
  const rules = rateLimiter?.rulesFor(undefined) ?? [];
  if (rateLimiter !== undefined && !transparent && rules.length > 0) {
    const rolesOf = ({ principal }: PassthroughExchange) => access.grantsOf(principal, checks.permissions).roles;
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

/**
 * Refuses callers who lack the permission that the policy requires, and requests that would be sent with the service
 * account's credential.
 */
function authorize(level: Checks['permissions'], access: UndocumentedAccess): Stage<PassthroughExchange> {
  return (next) => (exchange) => {
    const { permission, principal, trace } = exchange;
    if (permission !== undefined && level !== 'off') {
      const decision = access.decidePermission(permission, access.grantsOf(principal, level));
      traceDecision(trace, level, decision);
      if (decision.verdict === 'denied' && level === 'enforce')
        throw permissionRefusal(undefined, exchange, decision.missing, access.challenge);
    }
    if (access.serviceCredential && principal.authorization === undefined)
      throw new GatewayError('needs_caller_credential', "This address requires the caller's own credential.");
    return next(exchange);
  };
}

/**
 * Purges the stored responses that a write may have changed, before the client receives the response to the write. The
 * client's next read therefore returns current data (rules, 6).
 */
function purgeTags(purge: UndocumentedPlanParts['purge']): Stage<PassthroughExchange> {
  return (next) => async (exchange) => {
    const { method, path } = exchange.arrival;
    if (!mayWrite(method)) return next(exchange);
    let reply: Reply;
    try {
      reply = await next(exchange);
    } catch (error) {
      // A write whose response was lost may still have taken effect.
      if (error instanceof UpstreamFailure) await purge(passthroughPurges(path));
      throw error;
    }
    if (reply.status < 400 || reply.status >= 500) await purge(passthroughPurges(path));
    return reply;
  };
}

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Returns whether a successful request with this method may have changed data. */
function mayWrite(method: string): boolean {
  return !SAFE.has(method);
}

// A Map rather than an object, because the client chooses the name and every object has a `constructor`.
const LISTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['question', ['questions']],
  ['answer', ['questions', 'comments']],
  ['comment', ['comments', 'questions']],
  ['idea', ['ideas']],
  ['article', ['articles']],
  ['kbentry', ['articles']],
  ['topic', ['topics', 'questions', 'articles', 'ideas', 'users']],
  ['group', ['users']],
]);

/**
 * Returns the tags of everything that a successful unsafe request to an undocumented path may have changed: the tag of
 * the node in the path, and the tags of the lists of its resource. Returns undefined if the tags are unknown, in which
 * case the whole cache must be purged (rules, 6).
 */
export function passthroughPurges(path: string): readonly string[] | undefined {
  const [resource, id] = path.replace(/^\/services\/v2\//, '').split('/');
  const lists = LISTS.get((resource ?? '').replace(/\.json$/, ''));
  if (lists === undefined) return undefined;
  const node = /^(\d{1,19})(?:\.json)?$/.exec(id ?? '')?.[1];
  return node === undefined ? lists : [`node:${node}`, ...lists];
}

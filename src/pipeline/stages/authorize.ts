import { GatewayError } from '../../errors/gateway-error.ts';
import { undecidedRefusal } from '../../identity/refusals.ts';
import type { CheckLevel } from '../../model/checks.ts';
import type { Decision, Requirement } from '../../model/requirement.ts';
import { type Operation, PERMISSION_DENIED } from '../../model/operation.ts';
import type { Principal } from '../../model/principal.ts';
import type { Trace } from '../../model/trace.ts';
import type { Exchange } from '../exchange.ts';
import {
  type Decide,
  hasAcceptedCredential,
  isAwaitingResponse,
  permissionMismatch,
  traceDecision,
} from '../decide-permission.ts';
import type { Reply } from '../reply.ts';
import { documentedText } from '../request-refusal.ts';
import type { StagePlanner } from '../stage.ts';

/**
 * Refuses callers who lack the permissions that the contract requires, and compares the gateway's verdict with the
 * upstream's.
 */
export function authorize(decide: Decide, challenge: string): StagePlanner {
  return {
    name: 'authorize',
    plan(planned) {
      const { operation, checks } = planned;
      const level = checks.permissions;
      // Operations without requirements also need this stage, because it may have to deny callers without an account.
      if (level === 'off') return undefined;
      return (next) => {
        const proceed = (exchange: Exchange, decision: Decision): Reply | Promise<Reply> => {
          // In transparent mode, the decision is based on the name in the credential, which only the response can
          // confirm.
          const isClaim = planned.transparent && level !== 'enforce' && isAwaitingResponse(exchange.trace);
          traceDecision(exchange.trace, level, isClaim ? UNKNOWN_CALLER : decision);
          if (decision.verdict === 'denied' && level === 'enforce')
            throw permissionRefusal(operation, exchange, decision.missing, challenge);
          const delegated = decision.verdict === 'delegated' || exchange.delegated;
          const reply = next(delegated === exchange.delegated ? exchange : { ...exchange, delegated });
          // A synchronous reply comes from the cache, so there is no upstream verdict to compare with the decision.
          if (!(reply instanceof Promise)) return reply;
          return compared(operation, exchange, decision, isClaim ? judgedBy(exchange, level, decision, reply) : reply);
        };
        return (exchange) => {
          const decision = decide(planned, exchange);
          return decision instanceof Promise
            ? decision.then((made) => proceed(exchange, made))
            : proceed(exchange, decision);
        };
      };
    },
  };
}

const UNKNOWN_CALLER: Decision = { verdict: 'delegated', because: 'unmapped' };

/** Records the decision about a caller once the response has shown that the credential is valid. */
async function judgedBy(
  { trace }: Exchange,
  level: CheckLevel,
  decision: Decision,
  pending: Promise<Reply>,
): Promise<Reply> {
  const reply = await pending;
  if (hasAcceptedCredential(trace)) traceDecision(trace, level, decision);
  return reply;
}

/** The wording of a refusal for each unmet requirement that is not a permission. */
const PLAIN_WORDS: Readonly<Record<string, string>> = {
  'ownership of the node': 'Only the author of the node may do this.',
  'an account in the roles file': 'Your account has no role here.',
};

/** The facts about the caller that determine which error a refusal returns. */
interface Refused {
  readonly principal: Principal;
  readonly trace: Pick<Trace, 'authentication'>;
}

/**
 * Returns the error for a refused caller: 403 for a verified caller, 401 if a credential could help, and 429 or 503 if
 * the credential could not be verified (rules, 2).
 */
export function permissionRefusal(
  operation: Operation | undefined,
  { principal, trace }: Refused,
  missing: readonly string[],
  challenge: string,
): GatewayError {
  const undecided = principal.kind === 'unverified' ? undecidedRefusal(trace.authentication?.reason) : undefined;
  if (undecided !== undefined) return undecided;
  const ways = operation?.requires === undefined ? [] : waysToMeet(operation.requires, missing);
  const needed = ways.join(' or ');
  const details = missing.map((permission) => ({
    permission,
    message: `${ways.length > 1 ? needed : permission} is required`,
  }));
  if (principal.kind !== 'verified')
    return new GatewayError('credentials_required', 'A credential with the required permission is needed.', {
      details,
      headers: { 'WWW-Authenticate': challenge },
    });
  const [first = ''] = missing;
  const own = PLAIN_WORDS[first] ?? `You need ${needed || `the permission "${first}"`} to do this.`;
  const text = operation === undefined ? own : documentedText(operation, 403, { keyword: PERMISSION_DENIED }, own);
  return new GatewayError('permission_denied', text, { details });
}

/** Describes the alternatives of an unmet requirement, each with only the terms that the caller lacks. */
function waysToMeet(requirement: Requirement, missing: readonly string[]): string[] {
  if ('any' in requirement) return requirement.any.flatMap((one) => waysToMeet(one, missing));
  if ('all' in requirement) {
    const parts = requirement.all.map((one) => waysToMeet(one, missing).join(' or ')).filter((part) => part !== '');
    return parts.length === 0 ? [] : [parts.join(' and ')];
  }
  if ('own' in requirement) return waysToMeet(requirement.own, missing);
  const [[kind, name] = ['', '']] = Object.entries(requirement);
  return missing.includes(name) ? [`the ${kind} "${name}"`] : [];
}

async function compared(
  operation: Operation,
  exchange: Exchange,
  decision: Decision,
  pending: Promise<Reply>,
): Promise<Reply> {
  try {
    const reply = await pending;
    compare(operation, exchange, decision, reply.status);
    return reply;
  } catch (error) {
    if (error instanceof GatewayError) compare(operation, exchange, decision, error.status);
    throw error;
  }
}

/**
 * Records a mismatch between the gateway's verdict and the upstream's, which tells an administrator that the roles file
 * is wrong (rules, 3).
 */
function compare({ mayBePrivate }: Operation, { trace }: Exchange, decision: Decision, status: number): void {
  if (trace.upstream === undefined || decision.verdict === 'delegated') return;
  const upstreamDenied = trace.upstream.denied === true;
  const gatewayDenied = decision.verdict === 'denied';
  if (upstreamDenied === gatewayDenied || (!upstreamDenied && status >= 400)) return;
  // The upstream may hide a private comment even from callers who have every permission.
  if (upstreamDenied && mayBePrivate) return;
  trace.violations.push(permissionMismatch(upstreamDenied));
}

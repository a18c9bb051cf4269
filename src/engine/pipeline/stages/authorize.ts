import { GatewayError } from '../../errors/gateway-error.ts';
import type { CheckLevel } from '../../model/checks.ts';
import type { Operation, Decision } from '../../model/operation.ts';
import { ERROR_INSIDE } from '../../model/trace.ts';
import type { Decide } from '../decide-request.ts';
import type { Exchange } from '../exchange.ts';
import { permissionRefusal } from '../permission-refusal.ts';
import { hasAcceptedCredential, isAwaitingResponse, permissionMismatch, traceDecision } from '../permission-verdict.ts';
import type { Reply } from '../reply.ts';
import type { StagePlanner } from '../stage.ts';

/**
 * Refuses callers who lack the permissions that the contract requires, and compares the gateway's verdict with the
 * upstream's.
 */
export function authorize(decideOn: Decide, challenge: string): StagePlanner {
  return {
    name: 'authorize',
    check: 'permissions',
    plan(planned) {
      const { operation, checks } = planned;
      const level = checks.permissions;
      // Operations without requirements also need this stage, because it may have to deny callers without an account.
      if (level === 'off') return undefined;
      return (next) => {
        const proceed = (exchange: Exchange, decision: Decision): Reply | Promise<Reply> => {
          // In transparent mode, the decision is based on the name in the credential. Only the response can confirm
          // this name.
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
          const decision = decideOn(planned, exchange);
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
 * Records a mismatch between the gateway's verdict and the upstream's. A mismatch means that the roles file is wrong
 * (docs/rules.md §3).
 */
function compare({ mayBePrivate }: Operation, { trace }: Exchange, decision: Decision, status: number): void {
  if (trace.upstream === undefined || decision.verdict === 'delegated') return;
  const upstreamDenied = trace.upstream.denied === true;
  const gatewayDenied = decision.verdict === 'denied';
  const isError = status >= 400 || trace.upstream.shape === ERROR_INSIDE;
  if (upstreamDenied === gatewayDenied || (!upstreamDenied && isError)) return;
  // The upstream may hide a private comment even from callers who have every permission.
  if (upstreamDenied && mayBePrivate) return;
  trace.violations.push(permissionMismatch(upstreamDenied));
}

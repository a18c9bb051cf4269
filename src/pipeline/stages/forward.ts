import type { Clock } from '../../lib/clock.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { HeaderPairs } from '../../model/header-pairs.ts';
import type { UpstreamAnswer } from '../../model/upstream-answer.ts';
import { UpstreamFailure } from '../../model/upstream-failure.ts';
import { errorShape } from '../../upstream/error-shape.ts';
import type { Upstream } from '../../upstream/create-upstream.ts';
import type { PermissionMessage } from '../../upstream/permission-message.ts';
import { requestHeaders } from '../../upstream/request-headers.ts';
import { toTransportFailure } from '../../upstream/transport-failure.ts';
import { transparentHeaders } from '../../upstream/transparent-headers.ts';
import type { Exchange } from '../exchange.ts';
import { isPermissionDenial } from '../permission-denial.ts';
import type { PlannedOperation } from '../planned-operation.ts';
import type { Reply } from '../reply.ts';
import type { StagePlanner } from '../stage.ts';
import { endedEarly, tellFailure } from '../upstream-violation.ts';

/** How the last stage reaches the upstream. */
export interface ForwardServices {
  readonly upstream: Upstream;
  /** The `Authorization` of the service account; undefined when callers' credentials are forwarded. */
  readonly serviceAuthorization: string | undefined;
  readonly isPermissionMessage: PermissionMessage;
  readonly clock: Clock;
  /** Takes the content coding off a transparent answer, to look at it; no bytes when that cannot be done. */
  readonly decode: (headers: HeaderPairs, body: Buffer) => Promise<Buffer | 'damaged' | undefined>;
}

/** Exchanges the request with the upstream; the last stage of every plan. */
export function forward(services: ForwardServices): StagePlanner {
  return {
    name: 'forward',
    plan: (planned) => () => async (exchange) => {
      const startedAt = services.clock();
      const seconds = () => Math.max(0, services.clock() - startedAt) / 1000;
      const request = planned.transparent ? rawRequest(exchange) : builtRequest(planned, exchange, services);
      exchange.trace.route = 'plan';
      try {
        const answer = await services.upstream.exchange(request);
        const readable = planned.transparent ? await decoded(answer, services) : answer;
        const denied = isPermissionDenial(planned.operation, readable, services.isPermissionMessage);
        exchange.trace.upstream = {
          status: answer.status,
          shape: answer.status < 400 ? 'answer' : errorShape(readable),
          denied,
          seconds: seconds(),
          attempts: answer.attempts,
        };
        if (!Buffer.isBuffer(answer.body))
          answer.body.once('error', (error: unknown) => endedEarly(exchange.trace, toTransportFailure(error, 'body')));
        return { status: answer.status, headers: answer.headers, body: answer.body } satisfies Reply;
      } catch (error) {
        if (error instanceof UpstreamFailure) {
          exchange.trace.upstream = { status: undefined, shape: error.kind, seconds: seconds(), attempts: 1 };
          tellFailure(exchange.trace, error);
        }
        throw error;
      }
    },
  };
}

/** An error as it can be read: a client of `observe` may have asked for it compressed. */
async function decoded(answer: UpstreamAnswer, { decode }: ForwardServices): Promise<UpstreamAnswer> {
  if (answer.status < 400 || !Buffer.isBuffer(answer.body)) return answer;
  const body = await decode(answer.headers, answer.body);
  return Buffer.isBuffer(body) ? { ...answer, body } : answer;
}

function rawRequest(exchange: Exchange) {
  const { arrival, body } = exchange;
  const signal = exchange.clientGone?.();
  const raw = body ?? (hasBody(arrival.headers) ? arrival.body : undefined);
  return {
    method: arrival.method,
    target: arrival.target,
    headers: transparentHeaders(arrival),
    mode: 'transparent' as const,
    ...(raw === undefined ? {} : { body: raw }),
    ...(signal === undefined ? {} : { signal }),
  };
}

function builtRequest(planned: PlannedOperation, exchange: Exchange, services: ForwardServices) {
  const { arrival, body, target } = exchange;
  const signal = exchange.clientGone?.();
  return {
    method: planned.operation.method,
    target,
    headers: requestHeaders(arrival, authorizationFor(planned, exchange, services.serviceAuthorization)),
    mode: 'buffered' as const,
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  };
}

/** A service account stands in only where the contract says that answers do not depend on who asks (rules, 2). */
function authorizationFor(
  planned: PlannedOperation,
  { principal, delegated }: Exchange,
  service: string | undefined,
): string | undefined {
  if (service === undefined) return principal.authorization;
  if (planned.serviceCredential && !delegated) return service;
  if (principal.authorization !== undefined) return principal.authorization;
  throw new GatewayError('needs_caller_credential', 'This operation needs the credential of the caller itself.');
}

function hasBody(headers: Exchange['arrival']['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

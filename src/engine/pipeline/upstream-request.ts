import { GatewayError } from '../errors/gateway-error.ts';
import type { PublicOrigin } from '../model/arrival.ts';
import type { Principal } from '../model/principal.ts';
import type { AttemptLog } from '../model/trace.ts';
import { streamOwner } from '../upstream/stream-owner.ts';
import {
  forwardingHeaders,
  requestHeaders,
  sharedForwardingHeaders,
  type SharedIdentity,
  transparentHeaders,
} from '../upstream/headers.ts';
import { uploadOf } from '../upstream/send-proxied.ts';
import type { Sessions } from '../upstream/sessions.ts';
import { bodyTypeProblem, contentTypeLines } from './body-type.ts';
import type { Exchange } from './exchange.ts';
import type { PlannedOperation } from './stage.ts';

/** What a request to the upstream is built from, apart from the exchange. */
export interface RequestSources {
  /** The callers' sessions with the upstream. */
  readonly sessions: Sessions;
  /** The `Authorization` header of the service account. Undefined if callers' credentials are forwarded. */
  readonly serviceAuthorization: string | undefined;
  /** The configured public scheme and host. */
  readonly publicOrigin: PublicOrigin | undefined;
}

/** Returns the request as the client sent it, for `observe` mode. */
export function rawRequest(exchange: Exchange, log: AttemptLog | undefined) {
  const { arrival, body } = exchange;
  const signal = exchange.clientGone?.();
  const raw = body ?? uploadOf(arrival)?.stream;
  return {
    method: arrival.method,
    target: arrival.target,
    headers: transparentHeaders(arrival),
    mode: 'transparent' as const,
    log,
    owner: () => streamOwner(exchange.principal, arrival.clientAddress),
    ...(raw === undefined ? {} : { body: raw }),
    ...(signal === undefined ? {} : { signal }),
  };
}

/**
 * Returns the `Content-Type` lines to send with a body that is not labeled as JSON in UTF-8. If requests are not enforced,
 * such a body is forwarded, and another label would change its meaning.
 */
function bodyTypes({ arrival, body }: Exchange): readonly string[] | undefined {
  const isMislabeled = body !== undefined && bodyTypeProblem(arrival) !== undefined;
  return isMislabeled ? contentTypeLines(arrival) : undefined;
}

/**
 * Returns the request that is built from scratch outside `observe` mode (docs/rules.md §2). `shared` contains the ids of a
 * request whose response is stored. Throws a `GatewayError` if the operation needs the caller's own credential, and the
 * caller has none.
 */
export function builtRequest(
  planned: PlannedOperation,
  exchange: Exchange,
  services: RequestSources,
  shared: SharedIdentity | undefined,
  log: AttemptLog | undefined,
) {
  const { arrival, body, target } = exchange;
  const signal = exchange.clientGone?.();
  const authorization = authorizationFor(planned, exchange, services.serviceAuthorization);
  return {
    method: planned.operation.method,
    target,
    headers: requestHeaders(
      authorization,
      shared === undefined ? forwardingHeaders(arrival) : sharedForwardingHeaders(shared, services.publicOrigin),
      bodyTypes(exchange),
    ),
    session: services.sessions.of(authorization),
    mode: 'buffered' as const,
    operation: planned.operation.id,
    log,
    page: planned.operation.method === 'GET' ? target : undefined,
    owner: () => streamOwner(exchange.principal, arrival.clientAddress),
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  };
}

/**
 * Returns the `Authorization` header to send. The service account is used only if the contract states that responses do
 * not depend on the caller (docs/rules.md §2).
 */
function authorizationFor(
  planned: PlannedOperation,
  { principal, delegated }: Exchange,
  service: string | undefined,
): string | undefined {
  if (service === undefined && !lacksCredential(principal)) return principal.authorization;
  if (service !== undefined && planned.serviceCredential && !delegated) return service;
  if (principal.authorization !== undefined) return principal.authorization;
  throw needsCallerCredential('operation', principal);
}

/** Returns whether a caller is known, but only by a credential that is never sent upstream, such as a token. */
export const lacksCredential = ({ access, authorization }: Principal): boolean =>
  access !== undefined && authorization === undefined;

/** Returns the error for a request that only the caller's own credential can make. */
export function needsCallerCredential(what: 'operation' | 'address', principal: Principal): GatewayError {
  const because = lacksCredential(principal) ? ', and a token is never sent to the upstream' : '';
  return new GatewayError('needs_caller_credential', `This ${what} requires the caller's own credential${because}.`);
}

import type { AudienceGuard } from '../../cache/audience-guard.ts';
import { isShared } from '../../cache/stored-page.ts';
import type { Clock } from '../../../lib/clock.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { AttemptLog, Trace } from '../../model/trace.ts';
import { headerValue, type HeaderPairs } from '../../model/header-pairs.ts';
import type { InspectedBody, UpstreamResponse } from '../../upstream/response-body.ts';
import { UpstreamFailure } from '../../model/upstream-failure.ts';
import { isPermissionDenial, errorShape } from '../../upstream/failures/normalize-failure.ts';
import type { Upstream } from '../../upstream/create-upstream.ts';
import type { ExchangeSession } from '../../upstream/sessions.ts';
import { sharedIdentity, tracedIdentity } from '../../upstream/headers.ts';
import type { PermissionMessage } from '../../upstream/failures/permission-message.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { StagePlanner, PlannedOperation } from '../stage.ts';
import {
  recordCodingFault,
  recordDroppedHeaders,
  recordEnd,
  recordExceeded,
  recordFailedExchange,
} from '../upstream-incident.ts';
import { builtRequest, rawRequest, type RequestSources } from '../upstream-request.ts';

/** Services for sending requests upstream. */
export interface ForwardServices extends RequestSources {
  readonly upstream: Pick<Upstream, 'exchange'>;
  readonly isPermissionMessage: PermissionMessage;
  /** Makes the cache store the operation's future responses separately for each caller. */
  readonly guard: Pick<AudienceGuard, 'demote'>;
  readonly clock: Clock;
  /** Creates the log of an exchange's attempts. Undefined if spans are not exported. */
  readonly logAttempts?: ((traceparent: string) => AttemptLog) | undefined;
  /** Removes the content coding of a transparent response so that the response can be inspected. */
  readonly decode: (headers: HeaderPairs, body: Buffer) => Promise<InspectedBody>;
}

/** Sends the request upstream and returns the response. This is the last stage of every plan. */
export function forward(services: ForwardServices): StagePlanner {
  const { logAttempts } = services;
  const identify = logAttempts === undefined ? sharedIdentity : tracedIdentity;
  return {
    name: 'forward',
    plan: (planned) => () => async (exchange) => {
      const startedAt = services.clock();
      const seconds = () => Math.max(0, services.clock() - startedAt) / 1000;
      const shared = planned.cache === undefined ? undefined : identify(exchange.arrival);
      const traceparent = shared?.traceparent ?? exchange.arrival.traceparent;
      const log = logAttempts?.(traceparent);
      const request = planned.transparent
        ? rawRequest(exchange, log)
        : builtRequest(planned, exchange, services, shared, log);
      exchange.trace.route = 'plan';
      try {
        const response = await services.upstream.exchange(request);
        const { status, attempts } = response;
        exchange.trace.upstream = {
          status,
          shape: 'answer',
          denied: false,
          startedAt,
          seconds: seconds(),
          attempts,
          traceparent,
          sent: log?.attempts,
          requestId: shared?.requestId,
        };
        if (response.exceeded !== undefined) recordExceeded(exchange.trace, response.exceeded);
        if (response.codingFault !== undefined && planned.checks.responses !== 'off')
          recordCodingFault(exchange.trace, response.codingFault);
        recordDropped(planned, exchange.trace, response.headers);
        if (status >= 400) await readFailure(planned, exchange, response, services);
        if (status === 401) dropRefused(exchange, request.headers, services);
        if (!Buffer.isBuffer(response.body)) recordEnd(response.body, exchange.trace);
        const repeats = shared !== undefined && repeatsCredential(response, exchange, request.headers);
        if (repeats || repeatsSession(response, exchange, request)) {
          if (isShared(exchange.audience)) services.guard.demote(planned.operation.id);
          throw new GatewayError(
            'upstream_invalid_response',
            `The upstream response contains the request's ${repeats ? 'credential' : 'session'}.`,
          );
        }
        return { status: response.status, headers: response.headers, body: response.body } satisfies Reply;
      } catch (error) {
        if (error instanceof UpstreamFailure)
          recordFailedExchange(exchange.trace, error, {
            startedAt,
            seconds: seconds(),
            traceparent,
            sent: log?.attempts,
            requestId: shared?.requestId,
          });
        throw error;
      }
    },
  };
}

/**
 * Counts a response with headers that clients do not receive. In transparent mode, clients still receive them, so the
 * ledger reports each of them.
 */
function recordDropped({ responseHeaders, transparent, checks }: PlannedOperation, trace: Trace, headers: HeaderPairs) {
  const dropped = responseHeaders.dropped(headers);
  if (dropped.length === 0) return;
  trace.droppedHeaders = dropped.length;
  if (transparent && checks.responses !== 'off') recordDroppedHeaders(trace, dropped);
}

/**
 * Records the details of an error response. In transparent mode, the request continues even when the details cannot be
 * read.
 */
async function readFailure(
  planned: PlannedOperation,
  { trace }: Exchange,
  response: UpstreamResponse,
  services: ForwardServices,
): Promise<void> {
  const upstreamTrace = trace.upstream;
  if (upstreamTrace === undefined) return;
  trace.upstream = { ...upstreamTrace, shape: 'other' };
  try {
    const readable = planned.transparent ? await decodedResponse(response, services) : response;
    const denied = isPermissionDenial(planned.operation, readable, services.isPermissionMessage);
    trace.upstream = { ...upstreamTrace, shape: errorShape(readable, planned.operation.serverErrors), denied };
  } catch (error) {
    if (!planned.transparent) throw error;
    trace.cause ??= error;
  }
}

/**
 * Returns an error response with a decoded body. In `observe` mode, the body may be compressed on arrival, because the
 * client's `Accept-Encoding` is forwarded.
 */
async function decodedResponse(response: UpstreamResponse, { decode }: ForwardServices): Promise<UpstreamResponse> {
  if (response.status < 400 || !Buffer.isBuffer(response.body)) return response;
  const body = await decode(response.headers, response.body);
  return Buffer.isBuffer(body) ? { ...response, body } : response;
}

/** Forgets the session of a credential that the upstream has refused. A missing permission is not a refusal. */
function dropRefused({ trace }: Exchange, sent: HeaderPairs, { sessions }: ForwardServices): void {
  const authorization = headerValue(sent, 'authorization');
  if (authorization !== undefined && trace.upstream?.denied !== true) sessions.drop(authorization);
}

/** A request to the upstream, with the parts that the two forms of a request have in common. */
interface SentRequest {
  readonly headers: HeaderPairs;
  /** The session that is kept for the caller. Undefined if cookies are forwarded unchanged. */
  readonly session?: ExchangeSession;
}

// Responses are searched only for credentials of at least this length, because a shorter one could occur by chance.
const MIN_CREDENTIAL = 8;

/** Returns whether a response that other callers would receive contains the credential used to fetch it. */
function repeatsCredential(response: UpstreamResponse, { audience, principal }: Exchange, sent: HeaderPairs): boolean {
  const authorization = headerValue(sent, 'authorization');
  if (authorization === undefined || authorization !== principal.authorization || !isShared(audience)) return false;
  const credential = authorization.slice(authorization.indexOf(' ') + 1);
  if (credential.length < MIN_CREDENTIAL || !Buffer.isBuffer(response.body)) return false;
  // A JSON string may contain the credential with its slashes escaped.
  const forms = [credential, credential.replaceAll('/', String.raw`\/`)];
  return forms.some((form) => includes(response, form));
}

/**
 * Returns whether a response contains the id of the session with which it was fetched, for example in rewritten links,
 * although other callers would receive the response: because they share it, or because the session belongs to the
 * service account.
 */
function repeatsSession(response: UpstreamResponse, { audience, principal }: Exchange, sent: SentRequest): boolean {
  const { session, headers } = sent;
  if (session === undefined) return false;
  const isOwn = headerValue(headers, 'authorization') === principal.authorization;
  if (isOwn && !isShared(audience)) return false;
  const { body } = response;
  return (
    (Buffer.isBuffer(body) && session.occursIn(body)) || response.headers.some(([, value]) => session.occursIn(value))
  );
}

function includes({ headers, body }: UpstreamResponse, text: string): boolean {
  return (Buffer.isBuffer(body) && body.includes(text)) || headers.some(([, value]) => value.includes(text));
}

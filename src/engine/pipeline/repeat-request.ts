import { GatewayError } from '../errors/gateway-error.ts';
import type { Arrival, Cancellation } from '../model/arrival.ts';
import { type HeaderPairs, headerPairs, headerValue, headerValues } from '../model/header-pairs.ts';
import type { Upstream } from '../upstream/create-upstream.ts';
import { type SharedIdentity, sharedIdentity, transparentHeaders } from '../upstream/headers.ts';
import type { DecodedResponse, InspectedBody } from '../upstream/response-body.ts';
import type { ExchangeSession } from '../upstream/sessions.ts';
import type { Exchange } from './exchange.ts';
import type { PlannedOperation } from './stage.ts';
import { targetOf } from './targets.ts';
import { builtRequest, type RequestSources } from './upstream-request.ts';

/**
 * The form of a repeated request: with the headers that the client sent, as in `observe` mode, or built from scratch, as
 * outside it.
 */
export type RequestForm = 'received' | 'built';

/** The response to a repeated request. Its content coding has been removed unless `codingFault` is set. */
export interface RepeatedResponse extends DecodedResponse {
  /**
   * The names of the session cookies (`upstream.sessionCookies`) that the response sets to a value that the request did
   * not contain. They are not among the headers. Always empty for the form `received`, where they stay there.
   */
  readonly newSessions: readonly string[];
}

/** Repeats clients' requests aside from them, so that the responses to different forms can be compared. */
export interface RequestRepeater {
  /**
   * Sends a client's GET request again, with a request id and a trace of its own. Returns undefined if it is not sent:
   * because the upstream has no free slot or its circuit is not closed, or because the form cannot be built. Rejects
   * with an `UpstreamFailure`. See {@link Upstream.exchangeAside}.
   */
  repeat(exchange: Exchange, form: RequestForm, signal: Cancellation): Promise<RepeatedResponse> | undefined;
  /** Returns the body of a response as received without its content coding. */
  decode(headers: HeaderPairs, body: Buffer): Promise<InspectedBody>;
}

/** The dependencies of the repeater. */
export interface RepeaterParts extends RequestSources {
  readonly upstream: Pick<Upstream, 'exchangeAside'>;
  /** Returns an operation as it is planned outside `observe` mode. Undefined if there is no such operation. */
  readonly plannedAs: (operationId: string) => PlannedOperation | undefined;
  readonly decode: RequestRepeater['decode'];
}

/** Creates the repeater. */
export function createRepeater(parts: RepeaterParts): RequestRepeater {
  const received = ({ arrival }: Exchange, signal: Cancellation) => {
    const { target } = arrival;
    const headers = transparentHeaders(withIds(arrival, sharedIdentity()));
    return sent(parts.upstream.exchangeAside({ method: 'GET', target, headers, signal }), []);
  };
  const built = (exchange: Exchange, signal: Cancellation) => {
    const planned = parts.plannedAs(exchange.trace.operation ?? '');
    if (planned === undefined) return undefined;
    const identity = sharedIdentity();
    const arrival = withIds(exchange.arrival, identity);
    const target = targetOf(planned, arrival, exchange.values());
    const shared = planned.cache === undefined ? undefined : identity;
    const { headers, session } = builtRequest(planned, { ...exchange, arrival, target }, parts, shared, undefined);
    const watched = watchSession(session);
    const response = sent(
      parts.upstream.exchangeAside({ method: 'GET', target, headers, session: watched.session, signal }),
      watched.begun,
    );
    return response?.then((reply) => {
      const authorization = headerValue(headers, 'authorization');
      if (reply.status === 401 && authorization !== undefined) parts.sessions.drop(authorization);
      return reply;
    });
  };
  return {
    repeat(exchange, form, signal) {
      try {
        return form === 'built' ? built(exchange, signal) : received(exchange, signal);
      } catch (error) {
        if (error instanceof GatewayError) return undefined;
        throw error;
      }
    },
    decode: parts.decode,
  };
}

function sent(
  response: ReturnType<Upstream['exchangeAside']>,
  newSessions: readonly string[],
): Promise<RepeatedResponse> | undefined {
  return response?.then((reply) => ({ ...reply, newSessions }));
}

/** Returns a request with other ids, so that the upstream's log tells it apart from the client's request. */
function withIds(arrival: Arrival, { requestId, traceparent }: SharedIdentity): Arrival {
  // The properties are read one by one, because most of them are computed on first use.
  const { method, rawTarget, target, path, query, authorization, otherCredential, headers, rawHeaders } = arrival;
  const { clientAddress, protocol, host, receivedAt, body } = arrival;
  return {
    method,
    rawTarget,
    target,
    path,
    query,
    authorization,
    otherCredential,
    headers,
    rawHeaders,
    clientAddress,
    protocol,
    host,
    receivedAt,
    body,
    requestId,
    traceparent,
    tracestate: undefined,
  };
}

/** Returns a session that also notes which session cookies a response sets to a value that the request did not contain. */
function watchSession(session: ExchangeSession): { readonly session: ExchangeSession; readonly begun: string[] } {
  const begun: string[] = [];
  let pairs: readonly string[] = [];
  return {
    begun,
    session: {
      ...session,
      attach(headers, origin, path) {
        const attached = session.attach(headers, origin, path);
        pairs = headerValues(headerPairs(attached), 'cookie').flatMap((value) => value.split('; '));
        return attached;
      },
      receive(headers) {
        const others = session.receive(headers);
        const removed = headers.filter((header) => !others.includes(header));
        for (const [, value] of removed) {
          const pair = (value.split(';', 1)[0] ?? '').trim();
          // An empty value ends a session.
          if (!pair.endsWith('=') && !pairs.includes(pair)) begun.push(pair.slice(0, pair.indexOf('=')).trim());
        }
        return others;
      },
    },
  };
}

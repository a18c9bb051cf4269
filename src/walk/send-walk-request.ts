import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Arrival } from '../model/arrival.ts';
import { headerValue } from '../model/header-pairs.ts';
import type { Operation } from '../model/operation.ts';
import { createTrace, type Trace } from '../model/trace.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { DEFAULT_JSON_LIMITS, parseBounded } from '../lib/bounded-json.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { traceContext } from '../telemetry/trace-context.ts';
import { toGatewayError } from '../upstream/transport-failure.ts';
import type { WalkedGateway } from './walked-gateway.ts';

/** The result of one request of a walk: a response or an error. */
export type WalkOutcome =
  | { readonly kind: 'answer'; readonly answer: WalkedResponse; readonly trace: Trace }
  | { readonly kind: 'failure'; readonly error: GatewayError; readonly trace: Trace };

/** The credential of a walk, and the signal that ends it. */
interface WalkCaller {
  /** The value of `Authorization`; undefined for anonymous. */
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
}

/** Sends one request through the gateway and completes its trace. */
export async function sendWalkRequest(
  gateway: WalkedGateway,
  operation: Operation,
  target: string,
  caller: WalkCaller,
): Promise<WalkOutcome> {
  const arrival = arrivalOf(target, caller.authorization, gateway.clock());
  const { requestId, traceparent, receivedAt: startedAt, method } = arrival;
  const trace = createTrace({ requestId, traceparent, method, startedAt });
  const end = (status: number): void => {
    trace.status = status;
    trace.seconds = Math.max(0, gateway.clock() - startedAt) / 1000;
  };
  try {
    const dispatched = await gateway.dispatch(arrival, trace, caller.signal);
    const { exchange, reply } = dispatched;
    if (exchange === undefined) throw new Error(`${target} is not in the contract`);
    const bytes = await gateway.read(reply.headers, reply.body);
    end(reply.status);
    trace.bytes = bytes?.length;
    const text = bytes?.toString('utf8').replace(/^\uFEFF/, '');
    const parsed = bytes === undefined ? undefined : parseBounded(bytes, DEFAULT_JSON_LIMITS);
    const mediaType = headerValue(reply.headers, 'content-type');
    const answer = {
      operation,
      exchange,
      status: reply.status,
      mediaType,
      text,
      json: parsed?.state === 'parsed' ? parsed.value : undefined,
      trace,
    };
    return { kind: 'answer', answer, trace };
  } catch (thrown) {
    const error = toError(thrown);
    trace.error = error.code;
    // The body was cut off after the head, so no client would have received a complete response.
    end(trace.upstream?.status === undefined ? error.status : 0);
    return { kind: 'failure', error, trace };
  }
}

function arrivalOf(target: string, authorization: string | undefined, receivedAt: number): Arrival {
  const mark = target.indexOf('?');
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'portico-check',
    ...(authorization !== undefined && { authorization }),
  };
  return {
    method: 'GET',
    rawTarget: target,
    target,
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? undefined : target.slice(mark + 1),
    authorization,
    otherCredential: undefined,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    clientAddress: '127.0.0.1',
    protocol: 'http',
    host: undefined,
    requestId: `check-${randomUUID()}`,
    traceparent: traceContext({}).traceparent,
    tracestate: undefined,
    receivedAt,
    body: Readable.from([]),
  };
}

function toError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (thrown instanceof UpstreamFailure) return toGatewayError(thrown);
  throw thrown;
}

/** One response of the upstream, as the observer of a walk receives it. */
export interface WalkedResponse {
  readonly operation: Operation;
  /** The request with its decoded parameters. */
  readonly exchange: Exchange;
  readonly status: number;
  /** The value of `Content-Type`; undefined when there is none. */
  readonly mediaType: string | undefined;
  /** The text of the body; undefined if it was too large or could not be decoded. */
  readonly text: string | undefined;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
  /** The complete trace. */
  readonly trace: Trace;
}

/** Observes a walk; called once for every response, in order. */
export type WalkObserver = (answer: WalkedResponse) => void;

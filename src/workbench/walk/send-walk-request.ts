import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Settings } from '../../engine/config/settings.ts';
import type { Exploration } from '../../engine/contract/exploration.ts';
import { GatewayError } from '../../engine/errors/gateway-error.ts';
import { DEFAULT_JSON_LIMITS, parseBounded, parsedValue } from '../../lib/bounded-json.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Arrival } from '../../engine/model/arrival.ts';
import { MODES } from '../../engine/model/modes.ts';
import { type HeaderPairs, headerValue } from '../../engine/model/header-pairs.ts';
import type { Operation } from '../../engine/model/operation.ts';
import { createTrace, type Trace } from '../../engine/model/trace.ts';
import type { StreamedBody } from '../../engine/model/streamed-body.ts';
import { UpstreamFailure } from '../../engine/model/upstream-failure.ts';
import type { CompiledGateway } from '../../engine/pipeline/compiled-gateway.ts';
import { dispatch, type Dispatched } from '../../engine/pipeline/dispatch.ts';
import type { Exchange } from '../../engine/pipeline/exchange.ts';
import { traceContext } from '../../engine/telemetry/trace-context.ts';
import { decodeForInspection, type InspectedBody } from '../../engine/upstream/response-body.ts';
import { toGatewayError } from '../../engine/upstream/failures/transport-failure.ts';

/** The result of one walk request: a response or an error. */
export type WalkOutcome =
  | { readonly kind: 'response'; readonly response: WalkedResponse; readonly trace: Trace }
  | { readonly kind: 'failure'; readonly error: GatewayError; readonly trace: Trace };

/** The credential for a walk, and the signal that ends the walk. */
interface WalkCaller {
  /** The value of `Authorization`. Undefined for an anonymous walk. */
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
    const mediaType = headerValue(reply.headers, 'content-type');
    const response = {
      operation,
      exchange,
      status: reply.status,
      mediaType,
      text,
      json: bytes === undefined ? undefined : parsedValue(parseBounded(bytes, DEFAULT_JSON_LIMITS)),
      trace,
    };
    return { kind: 'response', response, trace };
  } catch (thrown) {
    const error = toError(thrown);
    trace.error = error.code;
    // The body was truncated after the head had arrived. A client would have received an incomplete response.
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

/** An upstream response, as passed to a walk's observer. */
export interface WalkedResponse {
  readonly operation: Operation;
  /** The request with its decoded parameters. */
  readonly exchange: Exchange;
  readonly status: number;
  /** The value of `Content-Type`. Undefined if there is none. */
  readonly mediaType: string | undefined;
  /** The text of the body. Undefined if the body was too large or could not be decoded. */
  readonly text: string | undefined;
  /** The parsed body. Undefined if the body is not JSON. */
  readonly json: unknown;
  /** The complete trace. */
  readonly trace: Trace;
}

/** Observes a walk. Called once for every response, in the order of the requests. */
export type WalkObserver = (response: WalkedResponse) => void;

/** The part of the gateway used by a walk. It has no listener, and processes requests one at a time. */
export interface WalkedGateway {
  readonly operations: readonly Operation[];
  readonly exploration: Exploration;
  readonly clock: Clock;
  /** Processes a request and returns its reply. Throws a GatewayError if there is no reply. */
  dispatch(arrival: Arrival, trace: Trace, signal: AbortSignal): Promise<Dispatched>;
  /**
   * Reads and decodes a body. Returns undefined if the body is too large or cannot be decoded. Throws if it is
   * truncated.
   */
  read(headers: HeaderPairs, body: Buffer | StreamedBody): Promise<Buffer | undefined>;
}

/** An assembled gateway that is to be walked. */
export interface GatewayToWalk {
  readonly gateway: CompiledGateway;
  readonly settings: Pick<Settings, 'profile'>;
}

/** The maximum number of bytes to read from one response. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Creates the part of the gateway used by a walk. */
export function toWalkedGateway({ gateway, settings: { profile } }: GatewayToWalk): WalkedGateway {
  return {
    exploration: profile.exploration,
    operations: gateway.contract.operations,
    clock: gateway.clock,
    dispatch: async (arrival, trace, signal) => dispatch(gateway, arrival, trace, () => signal),
    read: (headers, body) =>
      Buffer.isBuffer(body)
        ? decodeForInspection({ status: 200, headers, body }, MAX_BODY_BYTES).then(wholeOf)
        : readThrough(body).then(() => undefined),
  };
}

const wholeOf = (body: InspectedBody) => (Buffer.isBuffer(body) ? body : undefined);

/**
 * Reads a streamed body to its end, and rejects if the body is truncated. A body is streamed only if it is too large to
 * be checked or is truncated. Truncation becomes apparent only at the end.
 */
function readThrough(body: StreamedBody): Promise<void> {
  let bytes = 0;
  return new Promise((resolve, reject) => {
    body.read({
      part(part) {
        bytes += part.length;
        if (bytes <= MAX_BODY_BYTES) return true;
        resolve();
        body.destroy();
        return false;
      },
      end: (failure) => (failure === undefined ? resolve() : reject(failure)),
    });
  });
}

/**
 * Returns the gateway settings for a walk. Regardless of the configuration, all checks run, no message is refused,
 * changed or stored, and the walk's credential is forwarded to the upstream.
 */
export function toWalkSettings(settings: Settings, timeoutMs: number | undefined): Settings {
  const mode = MODES.observe;
  return {
    ...settings,
    mode,
    checks: mode.checks,
    checksFor: () => mode.checks,
    errors: mode.errors,
    errorsFor: () => mode.errors,
    // The walk foretells what the configured errors would do to the responses.
    translationFor: (id) => (settings.translationFor(id) === 'off' ? 'off' : 'report'),
    embedded: false,
    isWalk: true,
    features: settings.features.map(({ configurable, options }) => ({
      configurable,
      options: options === undefined ? undefined : (configurable.forWalk?.(options) ?? options),
    })),
    rewriteUrls: false,
    // The caller has an upstream account but might not be in the roles file. A real upstream has no demo accounts.
    authentication: { ...settings.authentication, verifier: 'upstream' },
    upstream: {
      ...settings.upstream,
      credentials: { kind: 'forward' },
      ...(timeoutMs !== undefined && {
        connectTimeoutMs: Math.min(timeoutMs, settings.upstream.connectTimeoutMs),
        headersTimeoutMs: timeoutMs,
        bodyTimeoutMs: timeoutMs,
        totalTimeoutMs: timeoutMs,
      }),
    },
  };
}

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import type { Arrival, PublicOrigin } from '../model/arrival.ts';
import { traceContext } from '../telemetry/trace-context.ts';
import { isHarmlessId } from '../privacy/client-text.ts';
import { unsafeTargetReason } from '../pipeline/unsafe-path.ts';
import type { Client } from './read-client.ts';

/** What the public edge allows of a request target, and where clients see the gateway. */
export interface ArrivalOptions {
  readonly maxTargetBytes: number;
  /** A prefix that clients put before `/services/v2/…`, for example `/qa`; empty for none. */
  readonly publicBasePath: string;
  /** The configured scheme and host of the public side; undefined where each client's own are believed. */
  readonly publicOrigin?: PublicOrigin | undefined;
}

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/** Names a request for logs and answers: the client's own id where it is harmless, else a new one. */
export function requestIdOf(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && isHarmlessId(sent) ? sent : randomUUID();
}

/** Under which names a request is known, and when it came. */
export type RequestIdentity = Pick<Arrival, 'requestId' | 'traceparent' | 'tracestate' | 'receivedAt'>;

/** Names a request and continues the caller's trace. */
export function identify({ headers }: Pick<IncomingMessage, 'headers'>, clock: Clock): RequestIdentity {
  const { traceparent, tracestate } = traceContext({
    traceparent: headers['traceparent'],
    tracestate: headers['tracestate'],
  });
  return { requestId: requestIdOf(headers['x-request-id']), traceparent, tracestate, receivedAt: clock() };
}

/** Reads a request once; throws 400, 404 or 414 for targets that are refused in every mode (rules, 1). */
export function readArrival(
  req: IncomingMessage,
  client: Client,
  identity: RequestIdentity,
  options: ArrivalOptions,
): Arrival {
  refuseOtherExpectations(req.headers.expect);
  const raw = req.url ?? '';
  if (raw.length > options.maxTargetBytes)
    throw new GatewayError('target_too_long', `The request target is longer than ${options.maxTargetBytes} bytes.`);
  const origin = raw.startsWith('/') ? raw : raw.replace(ABSOLUTE_FORM, '');
  const target = withoutBasePath(origin.startsWith('?') ? `/${origin}` : origin, options.publicBasePath);
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? undefined : target.slice(mark + 1);
  const reason = unsafeTargetReason(path, query);
  if (reason !== undefined)
    throw new GatewayError('unsafe_path', `This request target is refused: ${reason}.`, {
      details: [{ in: 'path', message: `${reason}; send the path of the resource itself` }],
    });
  return {
    method: req.method ?? '',
    target,
    path,
    query,
    headers: req.headers,
    rawHeaders: req.rawHeaders,
    clientAddress: client.address,
    protocol: options.publicOrigin?.protocol ?? client.protocol,
    host: options.publicOrigin?.host ?? req.headers.host,
    ...identity,
    body: req,
  };
}

/** RFC 9110, 10.1.1: the one expectation that there is has been met by Node before this is read. */
function refuseOtherExpectations(expect: string | undefined): void {
  if (expect === undefined || expect.trim().toLowerCase() === '100-continue') return;
  throw new GatewayError('expectation_failed', 'No expectation but 100-continue can be met.', {
    details: [{ in: 'header', name: 'Expect', message: 'leave it out, or send 100-continue' }],
  });
}

function withoutBasePath(target: string, basePath: string): string {
  if (basePath === '') return target;
  const rest = target.slice(basePath.length);
  if (target.startsWith(basePath) && (rest === '' || rest.startsWith('/') || rest.startsWith('?')))
    return rest.startsWith('/') ? rest : `/${rest}`;
  throw new GatewayError('not_in_contract', `Addresses of this gateway start with ${basePath}/.`, {
    details: [{ in: 'path', message: `the public base path is ${basePath}` }],
  });
}

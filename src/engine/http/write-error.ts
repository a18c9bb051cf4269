import type { IncomingMessage, ServerResponse } from 'node:http';
import accepts from 'accepts';
import type { ServerErrorForm } from '../model/server-errors.ts';
import { type ErrorForm, GatewayError, toErrorBody } from '../errors/gateway-error.ts';
import type { ErrorStyle } from '../model/checks.ts';
import { cacheStatus } from '../cache/cache-status.ts';
import type { CacheTrace, Trace } from '../model/trace.ts';
import { ProbeFailure, UpstreamFailure } from '../model/upstream-failure.ts';
import { toGatewayError } from '../upstream/failures/transport-failure.ts';
import { breakOff } from './connection.ts';
import { addEdgeHeaders, type EdgeHeaderOptions } from './write-reply.ts';

/** Options for error responses. */
export interface WriteErrorOptions extends EdgeHeaderOptions {
  readonly errorsFor: (operationId: string | undefined) => ErrorStyle;
  /** Returns the form of errors that an operation documents. */
  readonly documentedForm: (operationId: string | undefined) => ServerErrorForm | undefined;
  /** Whether the `Proxy-Status` header is added to errors caused by the upstream. */
  readonly proxyStatusHeader: boolean;
}

/**
 * Writes the response to a failed request. On the public side, no other function converts errors to responses. An
 * unexpected error results in `internal_error` without details. If a response has already begun, the connection is
 * closed instead.
 */
export function writeError(
  thrown: unknown,
  req: IncomingMessage,
  res: ServerResponse,
  trace: Trace,
  options: WriteErrorOptions,
): void {
  const error = toError(thrown);
  trace.error = error.code;
  trace.replacedStatus = error.replacedStatus;
  // A request that waited for another, identical request has no upstream exchange of its own, so the cause of the
  // failure is available only from the error.
  if (error.cause instanceof UpstreamFailure) trace.failure ??= error.cause.facts;
  if (error.code === 'internal_error') trace.cause = thrown;
  if (res.headersSent || res.destroyed) {
    breakOff(res);
    return;
  }
  const { contentType, body } = toErrorBody(error, trace.requestId, formOf(req, trace.operation, options));
  const headers = ['Content-Type', contentType, 'Content-Length', String(body.length), 'Cache-Control', 'no-store'];
  for (const [name, value] of Object.entries(error.headers)) headers.push(name, value);
  if (options.proxyStatusHeader) {
    const status = proxyStatus(error, trace);
    if (status !== undefined) headers.push('Proxy-Status', status);
  }
  const { cache } = trace;
  if (cache?.stored === false) headers.push('Cache-Status', cacheStatusOf(cache));
  addEdgeHeaders(headers, trace, options);
  res.writeHead(error.status, headers);
  res.end(req.method === 'HEAD' ? undefined : body);
  trace.bytes = req.method === 'HEAD' ? 0 : body.length;
}

/** Returns the `Cache-Status` header of an error in place of a page that could have been stored. */
function cacheStatusOf({ status, reason, notStored }: CacheTrace): string {
  const because = status === 'bypass' ? 'bypass' : reason === 'stale' ? 'stale' : 'miss';
  const detail = notStored === undefined ? {} : { detail: notStored };
  return cacheStatus({ kind: 'forward', because, collapsed: status === 'coalesced', ...detail });
}

function toError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (thrown instanceof UpstreamFailure) return toGatewayError(thrown);
  return new GatewayError('internal_error', 'Portico failed to process this request.', { cause: thrown });
}

/** Returns the form of an error body: the operation's legacy form, or the normalized form that the client accepts. */
function formOf(
  req: IncomingMessage,
  operationId: string | undefined,
  { errorsFor, documentedForm }: WriteErrorOptions,
): ErrorForm {
  const form = errorsFor(operationId) === 'legacy' ? documentedForm(operationId) : undefined;
  if (form !== undefined) return form;
  return accepts(req).type(['application/json', 'application/problem+json']) === 'application/problem+json'
    ? 'problem'
    : 'normalized';
}

/**
 * Returns the value of the `Proxy-Status` header (RFC 9209) for an error caused by the upstream. The value states why
 * the exchange failed, or the status of a response that Portico does not forward. Returns undefined for all other
 * errors.
 */
function proxyStatus({ cause, code }: GatewayError, { failure, upstream }: Trace): string | undefined {
  if (cause instanceof UpstreamFailure) return failure === undefined ? undefined : `portico; error=${failure.cause}`;
  const received = cause instanceof ProbeFailure ? cause.status : upstream?.status;
  if (received === undefined) return undefined;
  const error = code === 'internal_error' ? 'error=proxy_internal_error; ' : '';
  return `portico; ${error}received-status=${received}`;
}

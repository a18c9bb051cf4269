import type { ErrorRequestHandler, Request, Response } from 'express';
import { type ErrorForm, toErrorBody } from '../errors/error-body.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { ErrorStyle } from '../model/checks.ts';
import type { Trace } from '../model/trace.ts';
import { UpstreamFailure } from '../model/upstream-failure.ts';
import { toGatewayError } from '../upstream/to-gateway-error.ts';
import { edgeFields, type EdgeFieldOptions } from './edge-fields.ts';

/** What the one catch needs beside the error. */
export interface CatchServices extends EdgeFieldOptions {
  readonly errorsFor: (operationId: string | undefined) => ErrorStyle;
}

/** The one place that turns an error into an answer; what nobody expected becomes an internal error without details. */
export function createCatch(
  traceOf: (req: Request) => Trace | undefined,
  services: CatchServices,
): ErrorRequestHandler {
  // Express knows an error handler by its four parameters.
  return (thrown: unknown, req: Request, res: Response, _next) => {
    const error = toError(thrown);
    const trace = traceOf(req);
    if (trace !== undefined) {
      trace.error = error.code;
      if (error.code === 'internal_error') trace.cause = thrown;
    }
    if (res.headersSent || res.destroyed) {
      res.destroy();
      return;
    }
    const { contentType, body } = toErrorBody(
      error,
      trace?.requestId ?? '',
      formOf(req, services.errorsFor(trace?.operation)),
    );
    const extra = trace === undefined ? [] : edgeFields(trace, services).flat();
    const own = Object.entries(error.headers).flat();
    const headers = ['Content-Type', contentType, 'Content-Length', String(body.length), 'Cache-Control', 'no-store'];
    res.writeHead(error.status, [...headers, ...own, ...extra]);
    res.end(req.method === 'HEAD' ? undefined : body);
    if (trace !== undefined) trace.bytes = req.method === 'HEAD' ? 0 : body.length;
  };
}

function toError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (thrown instanceof UpstreamFailure) return toGatewayError(thrown);
  return new GatewayError('internal_error', 'Portico failed to answer this request.', { cause: thrown });
}

function formOf(req: Request, style: ErrorStyle): ErrorForm {
  if (style === 'legacy') return 'legacy';
  return req.accepts(['application/json', 'application/problem+json']) === 'application/problem+json'
    ? 'problem'
    : 'normalized';
}

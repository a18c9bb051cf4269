import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import { safePath } from '../privacy/path-text.ts';

/** The path segments that the log shows, by request. A caller can invent any other segment. */
const shownWords = new WeakMap<IncomingMessage, ReadonlySet<string>>();

const NO_WORDS: ReadonlySet<string> = new Set();

/** Returns the segments of a path that are neither empty nor a parameter. */
export const segmentsOf = (path: string): string[] => path.split('/').filter((one) => /^[^:]/.test(one));

/**
 * Returns the method and the path of an operator's request, for every log line about the request. The path is the
 * original one: while a mounted router handles a request, `url` contains only the path below the mount.
 */
export const adminRequestFields = (req: IncomingMessage) => ({
  method: req.method,
  path: safePath('originalUrl' in req ? String(req.originalUrl) : (req.url ?? ''), shownWords.get(req) ?? NO_WORDS),
});

const logFields = (req: IncomingMessage, res: ServerResponse) => ({
  ...adminRequestFields(req),
  status: res.statusCode,
});

const omitted = () => undefined;

/**
 * Logs operators' requests. Changes and refusals are always logged; page views and metric scrapes are logged only at
 * the `debug` level. The serializers return nothing so that the logging library does not log the token or the query.
 * `words` returns the path segments that are shown.
 */
export function logAdminRequests(logger: Logger, words: () => ReadonlySet<string>): RequestHandler {
  const log = pinoHttp({
    logger,
    quietReqLogger: true,
    quietResLogger: true,
    wrapSerializers: false,
    serializers: { req: omitted, res: omitted, err: omitted },
    customSuccessObject: logFields,
    customErrorObject: logFields,
    customSuccessMessage: () => 'admin request',
    customErrorMessage: () => 'admin request',
    customLogLevel: ({ method }, { statusCode }) =>
      statusCode >= 500 ? 'error' : statusCode < 400 && (method === 'GET' || method === 'HEAD') ? 'debug' : 'info',
  });
  return (req, res, next) => {
    shownWords.set(req, words());
    log(req, res, next);
  };
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PublicMiddleware } from '../../engine/http/public-app.ts';
import { withoutHeaders } from '../../engine/http/write-reply.ts';
import type { CorsOptions } from './options.ts';

/**
 * Returns middleware that lets web pages from the configured origins read responses (Fetch standard, 3.3). It responds
 * to preflight requests for documented paths, and adds CORS headers to all other responses when the head is written. At
 * that point, the response has already left the cache, so stored responses are the same for all origins. CORS headers
 * from the upstream are removed, because browsers reject responses with duplicate CORS headers.
 */
export function addCorsHeaders(options: CorsOptions): PublicMiddleware {
  const anyOrigin = options.origins.includes('*');
  const origins = new Set(options.origins);
  /** Returns the headers for an origin. An unlisted origin is not granted access and never appears in a response. */
  const headersFor = (origin: string | undefined): string[] => {
    const vary = anyOrigin ? [] : ['Vary', 'Origin'];
    if (origin === undefined || !(anyOrigin || origins.has(origin))) return vary;
    const allowed = ['Access-Control-Allow-Origin', anyOrigin ? '*' : origin, ...vary];
    if (options.credentials) allowed.push('Access-Control-Allow-Credentials', 'true');
    return allowed;
  };
  const exposed =
    options.exposeHeaders.length === 0 ? [] : ['Access-Control-Expose-Headers', options.exposeHeaders.join(', ')];
  return (req, res, next, gateway) => {
    const own = headersFor(req.headers.origin);
    const isAllowed = own[0] === 'Access-Control-Allow-Origin';
    if (!isPreflight(req)) replaceCorsHeaders(res, isAllowed ? [...own, ...exposed] : own);
    const methods = isPreflight(req) && isAllowed ? gateway.documentedMethods(req) : undefined;
    // Preflight requests that are not handled here are processed like other OPTIONS requests, as they would be without
    // CORS.
    if (methods === undefined) next();
    else gateway.respond(req, res, 204, preflightHeaders(options, own, methods));
  };
}

const CORS = /^access-control-/i;

/** Replaces the CORS headers of a response with the given ones. */
function replaceCorsHeaders(res: ServerResponse, own: readonly string[]): void {
  const writeHead = res.writeHead.bind(res);
  const replaced = (status: number, ...rest: readonly unknown[]) => {
    const headers = rest.at(-1);
    const kept = Array.isArray(headers) ? withoutHeaders(headers as string[], CORS) : [];
    const reason = typeof rest[0] === 'string' ? rest[0] : undefined;
    const all = [...kept, ...own];
    return reason === undefined ? writeHead(status, all) : writeHead(status, reason, all);
  };
  Object.assign(res, { writeHead: replaced });
}

/** Returns whether a request is a preflight, which asks permission for a cross-origin request (Fetch standard, 3.3). */
const isPreflight = ({ method, headers }: IncomingMessage) =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

/** Returns the headers of the response to a preflight request. `documented` contains the methods of the path. */
function preflightHeaders(
  { methods, headers, maxAgeSeconds }: CorsOptions,
  own: readonly string[],
  documented: readonly string[],
): string[] {
  const allowed = documented.filter((method) => methods === undefined || methods.some((one) => one === method));
  const list = withoutHeaders(own, /^vary$/i);
  list.push('Vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers');
  list.push('Access-Control-Allow-Methods', allowed.join(', '));
  list.push('Access-Control-Allow-Headers', headers.join(', '));
  list.push('Access-Control-Max-Age', String(maxAgeSeconds));
  return list;
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { CorsOptions } from '../config/general-options.ts';
import { allowedMethods } from '../pipeline/undocumented/policy.ts';
import { createArrivalReader, type HttpArrival } from './arrival.ts';
import { type PublicServices, recordAtEnd, traceOf } from './public-handler.ts';
import { addEdgeHeaders, withoutHeaders } from './write-reply.ts';

/**
 * Returns a handler that lets web pages from the configured origins read responses (Fetch standard, 3.3). The handler
 * itself responds to preflight requests for documented paths, and adds CORS headers to all other responses when the
 * head is written. At that point, the response has already left the cache, so stored responses are the same for all
 * origins. CORS headers from the upstream are removed, because browsers reject responses with duplicate CORS headers.
 */
export function withCors(
  handle: RequestListener,
  options: CorsOptions,
  services: () => PublicServices,
): RequestListener {
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
  const preflight = createPreflight(options, services);
  return (req, res) => {
    const { origin } = req.headers;
    const own = headersFor(origin);
    const isAllowed = own[0] === 'Access-Control-Allow-Origin';
    if (isPreflight(req)) {
      // Preflight requests that are not handled here are processed like other OPTIONS requests, as they would be
      // without CORS.
      if (!isAllowed || !preflight(req, res, own)) handle(req, res);
      return;
    }
    replaceCorsHeaders(res, isAllowed ? [...own, ...exposed] : own);
    handle(req, res);
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

type Preflight = (req: IncomingMessage, res: ServerResponse, own: readonly string[]) => boolean;

/**
 * Creates the function that responds to preflight requests. The function returns false if it does not respond, for
 * example because the path is undocumented.
 */
function createPreflight({ methods, headers, maxAgeSeconds }: CorsOptions, services: () => PublicServices): Preflight {
  const reader = { of: services().arrival, read: createArrivalReader(services().arrival) };
  return (req, res, own) => {
    const current = services();
    if (reader.of !== current.arrival)
      Object.assign(reader, { of: current.arrival, read: createArrivalReader(current.arrival) });
    if (current.checkHead?.(req) !== undefined) return false;
    const arrival = reader.read(req);
    const documented = documentedMethods(arrival, current);
    if (documented === undefined) return false;
    const allowed = documented.filter((method) => methods === undefined || methods.includes(method));
    const trace = traceOf(arrival);
    const list = withoutHeaders(own, /^vary$/i);
    list.push('Vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers');
    list.push('Access-Control-Allow-Methods', allowed.join(', '));
    list.push('Access-Control-Allow-Headers', headers.join(', '));
    list.push('Access-Control-Max-Age', String(maxAgeSeconds));
    addEdgeHeaders(list, trace, current);
    res.writeHead(204, list).end();
    recordAtEnd({ res, trace }, current);
    return true;
  };
}

/** Returns the methods of the operations at a path, or undefined if the path is undocumented or refused. */
function documentedMethods(arrival: HttpArrival, { gateway }: PublicServices): readonly string[] | undefined {
  let path: string;
  try {
    ({ path } = arrival);
  } catch {
    // The target is malformed, so the regular handler will refuse it.
    return undefined;
  }
  const match = gateway.contract.match(path);
  return match && allowedMethods(match.byMethod);
}

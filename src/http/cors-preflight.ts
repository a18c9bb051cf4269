import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CorsOptions } from '../config/general-options.ts';
import { allowedMethods } from '../pipeline/undocumented/policy.ts';
import { createArrivalReader, type HttpArrival } from './arrival.ts';
import { type PublicServices, recordAtEnd, traceOf } from './public-handler.ts';
import { addEdgeHeaders, withoutHeaders } from './write-reply.ts';

/** Returns whether a browser asks if it may send a request of another origin (Fetch standard, 3.3). */
export const isPreflight = ({ method, headers }: IncomingMessage) =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

type Preflight = (req: IncomingMessage, res: ServerResponse, own: readonly string[]) => boolean;

/**
 * Creates the function that responds to preflight requests. The function returns false if it does not respond, for
 * example because the path is not documented.
 */
export function createPreflight(
  { methods, headers, maxAgeSeconds }: CorsOptions,
  services: () => PublicServices,
): Preflight {
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
    // The ordinary handler will refuse the target.
    return undefined;
  }
  const match = gateway.contract.match(path);
  return match && allowedMethods(match.byMethod);
}

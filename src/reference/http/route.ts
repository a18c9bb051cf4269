import type { Sql } from '../store/sql.ts';
import type { Caller } from './caller.ts';
import { invalidId, notFound, refuse, type LegacyResponse } from './legacy-response.ts';

/** A request as passed to an operation: authenticated, with decoded path parameters and a parsed body. */
export interface LegacyRequest {
  readonly caller: Caller;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** Returns a path parameter, or an empty string if the route has no such parameter. */
  readonly param: (name: string) => string;
}

/** The services shared by all operations of the reference server. */
export interface ReferenceContext {
  readonly sql: Sql;
  /** Returns the current time in epoch milliseconds. */
  readonly clock: () => number;
  /** The server's own absolute URL, including its base path but without a trailing slash. */
  readonly url: string;
  /** The issue tracker's absolute URL, without a trailing slash. */
  readonly trackerUrl: string;
  /** True if user names in credentials are compared without case and surrounding white space. */
  readonly ignoreCase: boolean;
}

/**
 * A route in the reference server. `operation` is the operation's number in the specification's table, or undefined if
 * the route is undocumented.
 */
export interface LegacyRoute {
  readonly operation?: number;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** The Express path, without the base path. */
  readonly path: string;
  readonly respond: (request: LegacyRequest, context: ReferenceContext) => LegacyResponse | Promise<LegacyResponse>;
}

const MAX_ID = 9_223_372_036_854_775_807n;

/**
 * Parses an id in the path. An id that is not a 64-bit integer is refused with status 400, and an id above 2^53 with
 * status 404.
 */
export function readPathId(text: string, name: string): number {
  if (!/^\d{1,19}$/.test(text) || BigInt(text) > MAX_ID) refuse(invalidId(name));
  const id = Number(text);
  if (!Number.isSafeInteger(id)) refuse(notFound());
  return id;
}

import type { Request } from 'express';
import type { ReferenceContext } from '../reference-context.ts';
import type { Caller } from './caller.ts';
import { invalidId, notFound, plainError, refuse, type LegacyResponse } from './legacy-response.ts';

/** A request as passed to an operation: authenticated, with decoded path parameters and a parsed body. */
export interface LegacyRequest {
  readonly caller: Caller;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** Returns a path parameter, or an empty string if the route does not have it. */
  readonly param: (name: string) => string;
}

/**
 * A route of the reference server. `operation` is the operation's number in the specification's table, or undefined
 * if the route is undocumented.
 */
export interface LegacyRoute {
  readonly operation?: number;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** The Express path, without the base path. */
  readonly path: string;
  readonly respond: (request: LegacyRequest, context: ReferenceContext) => LegacyResponse | Promise<LegacyResponse>;
}

function parseBody(bytes: unknown): unknown {
  if (!Buffer.isBuffer(bytes) || bytes.byteLength === 0) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return refuse(plainError(400, 'The request body is not valid JSON.'));
  }
}

/**
 * Converts an Express request with a raw body to a LegacyRequest. The body is not parsed until an operation reads it.
 */
export function readRequest(request: Request, caller: Caller): LegacyRequest {
  const mark = request.url.indexOf('?');
  return {
    caller,
    query: new URLSearchParams(mark < 0 ? '' : request.url.slice(mark + 1)),
    get body() {
      return parseBody(request.body as unknown);
    },
    param: (name) => {
      const value = request.params[name];
      return typeof value === 'string' ? value : '';
    },
  };
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

import type { Request } from 'express';
import type { ReferenceContext } from '../reference-context.ts';
import type { Caller } from './caller.ts';
import { plainError, refuse } from './errors.ts';
import type { LegacyAnswer } from './legacy-response.ts';

/** A request as an operation sees it: authenticated, path parameters decoded, body parsed. */
export interface LegacyRequest {
  readonly caller: Caller;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** A path parameter; the empty string when the route has no such parameter. */
  readonly param: (name: string) => string;
}

/** One address of the reference server; `operation` is its number in the specification's table, absent for undocumented ones. */
export interface LegacyRoute {
  readonly operation?: number;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Express path below the base path. */
  readonly path: string;
  readonly answer: (request: LegacyRequest, context: ReferenceContext) => LegacyAnswer | Promise<LegacyAnswer>;
}

function parseBody(bytes: unknown): unknown {
  if (!Buffer.isBuffer(bytes) || bytes.byteLength === 0) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return refuse(plainError(400, 'The request body is not valid JSON.'));
  }
}

/** Turns an Express request whose body is still raw bytes into what an operation sees; a body is parsed only when it is looked at. */
export function readRequest(request: Request, caller: Caller): LegacyRequest {
  const question = request.url.indexOf('?');
  return {
    caller,
    query: new URLSearchParams(question < 0 ? '' : request.url.slice(question + 1)),
    get body() {
      return parseBody(request.body as unknown);
    },
    param: (name) => {
      const value = request.params[name];
      return typeof value === 'string' ? value : '';
    },
  };
}

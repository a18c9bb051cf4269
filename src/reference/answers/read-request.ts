import type { Request } from 'express';
import type { Caller } from '../access/caller.ts';
import { plainError } from './legacy-errors.ts';
import { refuse } from './legacy-refusal.ts';
import type { LegacyRequest } from './legacy-route.ts';

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

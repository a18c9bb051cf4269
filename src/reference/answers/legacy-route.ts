import type { Caller } from '../access/caller.ts';
import type { LegacyAnswer } from './legacy-answer.ts';
import type { ReferenceContext } from '../reference-context.ts';

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

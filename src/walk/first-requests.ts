import type { Operation } from '../model/operation.ts';
import type { KnownIds } from './known-ids.ts';

/** The maximum number of resources that are requested for one operation. */
const MAX_RESOURCES = 30;

/** Returns an operation's plain requests: one per known resource, or none as long as an id is missing. */
export function firstRequests(operation: Operation, ids: KnownIds): readonly WalkRequest[] {
  return pathsOf(operation, ids).map((path, index) => ({
    operation: operation.id,
    target: path,
    query: '',
    rank: index === 0 ? RANK.plain : RANK.more,
  }));
}

/** Returns the path parameters of an operation for which no id is known. */
export function missingIds(operation: Operation, ids: KnownIds): readonly string[] {
  return pathParameters(operation).filter((name) => ids.of(name).length === 0);
}

function pathsOf(operation: Operation, ids: KnownIds): readonly string[] {
  const names = pathParameters(operation);
  const count = Math.min(MAX_RESOURCES, ...names.map((name) => ids.of(name).length));
  // Pairs the nth ids of all parameters, so that every id is requested but not every combination of ids.
  return Array.from({ length: names.length === 0 ? 1 : count }, (_, at) =>
    names.reduce(
      (path, name) => path.replace(`{${name}}`, () => encodeURIComponent(ids.of(name)[at] ?? '')),
      operation.path,
    ),
  );
}

const pathParameters = ({ parameters }: Operation): readonly string[] =>
  parameters.filter(({ location }) => location === 'path').map(({ name }) => name);

/** One request of a walk. */
export interface WalkRequest {
  /** The id of the requested operation. */
  readonly operation: string;
  /** The path and query, percent-encoded. */
  readonly target: string;
  /** The query without the path; empty if there is none. */
  readonly query: string;
  /**
   * The priority. Lower ranks are sent first, so that every operation is requested once before any operation is
   * requested in detail.
   */
  readonly rank: number;
}

/** The ranks, from the first request for each operation to requests that are sent only if the maximum allows it. */
export const RANK = { plain: 0, pages: 1, shapes: 2, filters: 3, more: 4 } as const;

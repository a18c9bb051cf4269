import type { Operation } from '../model/operation.ts';
import type { KnownIds } from './known-ids.ts';

/** How many different resources of one operation are asked for at most. */
const MAX_RESOURCES = 30;

/** The plain requests of an operation, one per resource that is known; none while an id is missing. */
export function firstRequests(operation: Operation, ids: KnownIds): readonly WalkRequest[] {
  return pathsOf(operation, ids).map((path, index) => ({
    operation: operation.id,
    target: path,
    query: '',
    rank: index === 0 ? RANK.plain : RANK.more,
  }));
}

/** The path parameters of an operation that no id is known for. */
export function missingIds(operation: Operation, ids: KnownIds): readonly string[] {
  return pathParameters(operation).filter((name) => ids.of(name).length === 0);
}

function pathsOf(operation: Operation, ids: KnownIds): readonly string[] {
  const names = pathParameters(operation);
  const count = Math.min(MAX_RESOURCES, ...names.map((name) => ids.of(name).length));
  // The n-th id of each parameter together: every id occurs, without asking for every combination.
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
  /** The operation that it belongs to. */
  readonly operation: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  /** The query alone; empty for none. */
  readonly query: string;
  /** When it is sent: what has a lower number goes first, so that every operation is seen before any is seen closely. */
  readonly rank: number;
}

/** The ranks, from what is asked of every operation to what is asked while requests are left. */
export const RANK = { plain: 0, pages: 1, shapes: 2, filters: 3, more: 4 } as const;

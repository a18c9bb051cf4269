import { type Exploration, RANK } from '../../engine/contract/exploration.ts';
import type { Operation } from '../../engine/model/operation.ts';

/** The maximum number of resources requested per operation. */
const MAX_RESOURCES = 30;

/** Returns an operation's plain requests, one per known resource. Returns no requests while an id is missing. */
export function firstRequests(operation: Operation, ids: KnownIds): readonly WalkRequest[] {
  return pathsOf(operation, ids).map((path, index) => ({
    operation: operation.id,
    target: path,
    query: '',
    rank: index === 0 ? RANK.plain : RANK.more,
  }));
}

/** Returns an operation's path parameters that have no known ids. */
export function missingIds(operation: Operation, ids: KnownIds): readonly string[] {
  return pathParameters(operation).filter((name) => ids.of(name).length === 0);
}

function pathsOf(operation: Operation, ids: KnownIds): readonly string[] {
  const names = pathParameters(operation);
  const count = Math.min(MAX_RESOURCES, ...names.map((name) => ids.of(name).length));
  // The nth path contains the nth id of each parameter, so not every combination of ids is requested.
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
  /** The query without the path. Empty if there is no query. */
  readonly query: string;
  /**
   * The priority. Requests with lower ranks are sent first, so that every operation is requested once before any
   * operation is requested in detail.
   */
  readonly rank: number;
}

/** The ids known during a walk, grouped by path parameter. */
export interface KnownIds {
  /** Adds the ids in a response. Returns true if any of them is new. */
  learn(text: string): boolean;
  /** Returns the ids of one kind, starting with those from the command line. */
  of(kind: string): readonly string[];
  /** Returns the ids as plain data, from which a later walk continues. */
  save(): SavedIds;
}

/** Known ids as plain data: the kinds with the ids that are preferred, and with the others. */
export type SavedIds = readonly (readonly (readonly [kind: string, ids: readonly string[]])[])[];

/** The maximum number of stored ids of one kind. */
const MAX_IDS = 200;

/** Creates the store of known ids, starting with those from the command line and those that an earlier walk has saved. */
export function createKnownIds(
  configured: ReadonlyMap<string, readonly string[]>,
  { discoverIds }: Pick<Exploration, 'discoverIds'>,
  saved: SavedIds = [],
): KnownIds {
  const preferred = new Map<string, Set<string>>();
  const others = new Map<string, Set<string>>();
  for (const [kind, ids] of configured) add(preferred, kind, ids);
  for (const [at, store] of [preferred, others].entries())
    for (const [kind, ids] of saved[at] ?? []) add(store, kind, ids);
  return {
    learn: (text) =>
      discoverIds(text)
        .map(({ parameter, id, isPreferred }) => add(isPreferred ? preferred : others, parameter, [id]))
        .some(Boolean),
    of: (kind) => [...new Set([...(preferred.get(kind) ?? []), ...(others.get(kind) ?? [])])],
    save: () => [preferred, others].map((store) => Array.from(store, ([kind, ids]) => [kind, [...ids]] as const)),
  };
}

/** Adds ids. Returns true if any of them is new. */
function add(to: Map<string, Set<string>>, kind: string, ids: readonly string[]): boolean {
  const known = to.get(kind) ?? new Set<string>();
  const before = known.size;
  for (const id of ids) if (known.size < MAX_IDS) known.add(id);
  to.set(kind, known);
  return known.size > before;
}

import type { Sql } from '../store/sql.ts';

type Json = Record<string, unknown>;

/** Selects the fields of an item by dotted paths. */
interface Projection {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly includeOnly: readonly string[];
}

function paths(query: URLSearchParams, name: string): string[] {
  return query
    .getAll(name)
    .flatMap((value) => value.split(','))
    .map((path) => path.trim())
    .filter((path) => path !== '');
}

/** Reads `include`, `exclude` and `includeOnly`. Each is a comma-separated list and may be repeated. */
export function readProjection(query: URLSearchParams): Projection {
  return {
    include: paths(query, 'include'),
    exclude: paths(query, 'exclude'),
    includeOnly: paths(query, 'includeOnly'),
  };
}

/** Returns whether the projection names a field that is not shown by default. */
function includes(projection: Projection, field: string): boolean {
  return [...projection.include, ...projection.includeOnly].includes(field);
}

function isPlain(value: unknown): value is Json {
  // A raw JSON number is also an object, but has no prototype, so it is treated as a leaf.
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/**
 * Returns the selected paths under `key`. Returns undefined if no path begins with the key, and an empty list if a path
 * ends with it.
 */
function below(key: string, selected: readonly string[]): string[] | undefined {
  const named = selected.filter((path) => path === key || path.startsWith(`${key}.`));
  if (named.length === 0) return undefined;
  return named.includes(key) ? [] : named.map((path) => path.slice(key.length + 1));
}

function pick(value: unknown, selected: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => pick(item, selected));
  if (!isPlain(value)) return value;
  const picked: Json = {};
  for (const [key, field] of Object.entries(value)) {
    const rest = below(key, selected);
    if (rest !== undefined) picked[key] = rest.length === 0 ? field : pick(field, rest);
  }
  return picked;
}

function omit(value: unknown, unwanted: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => omit(item, unwanted));
  if (!isPlain(value)) return value;
  const remaining: Json = {};
  for (const [key, field] of Object.entries(value)) {
    const rest = below(key, unwanted);
    if (rest === undefined) remaining[key] = field;
    else if (rest.length > 0) remaining[key] = omit(field, rest);
  }
  return remaining;
}

/** Returns the item with only the requested fields, in their original order. `exclude` is applied last. */
export function project(item: Json, projection: Projection): Json {
  const only =
    projection.includeOnly.length === 0 ? item : pick(item, [...projection.includeOnly, ...projection.include]);
  return (projection.exclude.length === 0 ? only : omit(only, projection.exclude)) as Json;
}

const EXTRAS = [
  ['favoriteCount', 'SELECT COUNT(*) AS value FROM favorites WHERE node_id = ?'],
  ['followerCount', "SELECT COUNT(*) AS value FROM follows WHERE kind = 'node' AND target_id = ? AND active = 1"],
] as const;

/**
 * Adds the counts that undocumented routes return only if they are named in `include` or `includeOnly`. Documented
 * routes never return these counts.
 */
export function withExtraFields(
  sql: Sql,
  item: Record<string, unknown>,
  nodeId: number,
  projection: Projection,
): Record<string, unknown> {
  const extras = EXTRAS.filter(([field]) => includes(projection, field));
  return Object.assign(
    item,
    Object.fromEntries(extras.map(([field, text]) => [field, sql.get<{ value: number }>(text, nodeId)?.value ?? 0])),
  );
}

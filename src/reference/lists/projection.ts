import type { Sql } from '../store/sql.ts';

type Json = Record<string, unknown>;

/** Which fields an item keeps; paths are dotted. */
export interface Projection {
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

/** Reads `include`, `exclude` and `includeOnly`: comma lists that may repeat. */
export function readProjection(query: URLSearchParams): Projection {
  return {
    include: paths(query, 'include'),
    exclude: paths(query, 'exclude'),
    includeOnly: paths(query, 'includeOnly'),
  };
}

/** Whether a field that is not shown by default is asked for by name. */
export function asksFor(projection: Projection, field: string): boolean {
  return [...projection.include, ...projection.includeOnly].includes(field);
}

function isPlain(value: unknown): value is Json {
  // A raw JSON number is an object too, but without a prototype, and a leaf.
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** The paths below `key`: undefined when none names it, an empty list when it is named as a whole. */
function below(key: string, wanted: readonly string[]): string[] | undefined {
  const named = wanted.filter((path) => path === key || path.startsWith(`${key}.`));
  if (named.length === 0) return undefined;
  return named.includes(key) ? [] : named.map((path) => path.slice(key.length + 1));
}

function keep(value: unknown, wanted: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => keep(item, wanted));
  if (!isPlain(value)) return value;
  const kept: Json = {};
  for (const [key, field] of Object.entries(value)) {
    const rest = below(key, wanted);
    if (rest !== undefined) kept[key] = rest.length === 0 ? field : keep(field, rest);
  }
  return kept;
}

function drop(value: unknown, unwanted: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => drop(item, unwanted));
  if (!isPlain(value)) return value;
  const kept: Json = {};
  for (const [key, field] of Object.entries(value)) {
    const rest = below(key, unwanted);
    if (rest === undefined) kept[key] = field;
    else if (rest.length > 0) kept[key] = drop(field, rest);
  }
  return kept;
}

/** The item with the asked fields only, in the item's own order; `exclude` is applied last. */
export function project(item: Json, projection: Projection): Json {
  const only =
    projection.includeOnly.length === 0 ? item : keep(item, [...projection.includeOnly, ...projection.include]);
  return (projection.exclude.length === 0 ? only : drop(only, projection.exclude)) as Json;
}

const EXTRAS = [
  ['favoriteCount', 'SELECT COUNT(*) AS value FROM favorites WHERE node_id = ?'],
  ['followerCount', "SELECT COUNT(*) AS value FROM follows WHERE kind = 'node' AND target_id = ? AND active = 1"],
] as const;

/** A node with the counts that undocumented addresses show when `include` or `includeOnly` names them; no documented answer has them. */
export function withExtraFields(
  sql: Sql,
  item: Record<string, unknown>,
  nodeId: number,
  projection: Projection,
): Record<string, unknown> {
  const extras = EXTRAS.filter(([field]) => asksFor(projection, field));
  return Object.assign(
    item,
    Object.fromEntries(extras.map(([field, text]) => [field, sql.get<{ value: number }>(text, nodeId)?.value ?? 0])),
  );
}

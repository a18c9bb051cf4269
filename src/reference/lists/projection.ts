type Json = Record<string, unknown>;

/** Selects the fields of an item by dotted paths (choice `projection-paths`). */
export interface Projection {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly includeOnly: readonly string[];
}

/** Reads a parameter that contains comma-separated values and may be repeated. */
export function readList(query: URLSearchParams, name: string): string[] {
  return query
    .getAll(name)
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

/** Reads `include`, `exclude` and `includeOnly`. */
export function readProjection(query: URLSearchParams): Projection {
  return {
    include: readList(query, 'include'),
    exclude: readList(query, 'exclude'),
    includeOnly: readList(query, 'includeOnly'),
  };
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
export function project(item: Json, { include, exclude, includeOnly }: Projection): Json {
  const only = includeOnly.length === 0 ? item : pick(item, [...includeOnly, ...include]);
  return (exclude.length === 0 ? only : omit(only, exclude)) as Json;
}

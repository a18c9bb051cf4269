/** The decoded parameters of a request. Invalid ones are left out. */
export interface ParameterValues {
  /** Decoded path parameters by name. */
  readonly path: Readonly<Record<string, string>>;
  /** All decoded query parameters of the request, including unknown ones. */
  readonly query: ReadonlyMap<string, readonly string[]>;
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  readonly sort: string | undefined;
  /** A string of digits, because a 64-bit integer does not fit into a number. */
  readonly spaceId: string | undefined;
  /** Undefined if the request selects no fields. */
  readonly projection: Projection | undefined;
  /** True if follow relations are listed (operations 10 and 14). */
  readonly details: boolean;
  /** False if inactive relations are listed too (operations 10 and 14). */
  readonly active: boolean;
  /** True if the request has `wrap` with any value; its meaning is not documented. */
  readonly wrap: boolean;
  /** True if the request has `v1` with any value; its meaning is not documented. */
  readonly v1: boolean;
}

/** The fields of each item that a caller selects, as dotted paths. */
interface Projection {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly includeOnly: readonly string[];
}

/** Reads `include`, `exclude` and `includeOnly`; returns undefined if none of them names a field. */
export function toProjection(query: ReadonlyMap<string, readonly string[]>): Projection | undefined {
  const paths = (name: string) =>
    (query.get(name) ?? []).flatMap((value) =>
      value
        .split(',')
        .map((path) => path.trim())
        .filter((path) => path !== ''),
    );
  const projection = { include: paths('include'), exclude: paths('exclude'), includeOnly: paths('includeOnly') };
  const selected = projection.include.length + projection.exclude.length + projection.includeOnly.length;
  return selected === 0 ? undefined : projection;
}

const covers = (listed: string, path: string) => path === listed || path.startsWith(`${listed}.`);

/** Returns true if the projection cannot remove a field, or any part of it, from an item. */
export function survives(projection: Projection | undefined, path: string): boolean {
  if (!projection) return true;
  const { include, exclude, includeOnly } = projection;
  if (exclude.some((listed) => covers(listed, path) || covers(path, listed))) return false;
  // It is not documented whether `include` adds fields or limits them, so only the named fields are certain.
  const limits = [...include, ...includeOnly];
  return limits.length === 0 || limits.some((listed) => covers(listed, path));
}

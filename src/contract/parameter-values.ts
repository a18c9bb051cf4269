/** The parameters of a request, decoded; those that were wrong are left out. */
export interface ParameterValues {
  /** Decoded path parameters by name. */
  readonly path: Readonly<Record<string, string>>;
  /** Every query parameter that was sent, decoded, unknown ones too. */
  readonly query: ReadonlyMap<string, readonly string[]>;
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  readonly sort: string | undefined;
  /** Digits, as 64-bit integers do not fit into a number. */
  readonly spaceId: string | undefined;
  /** Undefined when the whole fields were asked for. */
  readonly projection: Projection | undefined;
  /** True lists follow relations (10 and 14). */
  readonly details: boolean;
  /** False lists inactive relations too (10 and 14). */
  readonly active: boolean;
  /** True when `wrap` was sent with any value; its meaning was not shown. */
  readonly wrap: boolean;
  /** True when `v1` was sent with any value; its meaning was not shown. */
  readonly v1: boolean;
}

/** What a caller asked to see of each item, as dotted field paths. */
export interface Projection {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly includeOnly: readonly string[];
}

/** Reads `include`, `exclude` and `includeOnly`; undefined when none of them names a field. */
export function toProjection(query: ReadonlyMap<string, readonly string[]>): Projection | undefined {
  const paths = (name: string) =>
    (query.get(name) ?? []).flatMap((value) =>
      value
        .split(',')
        .map((path) => path.trim())
        .filter((path) => path !== ''),
    );
  const projection = { include: paths('include'), exclude: paths('exclude'), includeOnly: paths('includeOnly') };
  const asked = projection.include.length + projection.exclude.length + projection.includeOnly.length;
  return asked === 0 ? undefined : projection;
}

const covers = (listed: string, path: string) => path === listed || path.startsWith(`${listed}.`);

/** True when a field, all of it, must still be in each item after the projection. */
export function survives(projection: Projection | undefined, path: string): boolean {
  if (!projection) return true;
  const { include, exclude, includeOnly } = projection;
  if (exclude.some((listed) => covers(listed, path) || covers(path, listed))) return false;
  // Whether `include` adds to an item or limits it was not shown: only what it names is sure.
  const limits = [...include, ...includeOnly];
  return limits.length === 0 || limits.some((listed) => covers(listed, path));
}

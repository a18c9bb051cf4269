import type { ItemsAt } from '../model/operation.ts';

/** The decoded parameters in a request. Invalid parameters are omitted. */
export interface ParameterValues {
  /** The decoded path parameters, by name. */
  readonly path: Readonly<Record<string, string>>;
  /** All decoded query parameters in the request, including undocumented ones. */
  readonly query: ReadonlyMap<string, readonly string[]>;
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  readonly sort: string | undefined;
  /** The space id as a string of digits, because a JavaScript number cannot represent all 64-bit integers. */
  readonly spaceId: string | undefined;
  /** The requested projection. Undefined if the request does not select fields. */
  readonly projection: Projection | undefined;
  /** True if the response is expected to contain a list of follow relations (operations 10 and 14). */
  readonly details: boolean;
  /** False if the response is also expected to include inactive follow relations (operations 10 and 14). */
  readonly active: boolean;
  /** True if the request contains `wrap`, with any value. The meaning of `wrap` is not documented. */
  readonly wrap: boolean;
  /** True if the request contains `v1`, with any value. The meaning of `v1` is not documented. */
  readonly v1: boolean;
}

/** The fields that a caller selects for each item, as dotted paths. */
interface Projection {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly includeOnly: readonly string[];
}

/** Reads `include`, `exclude` and `includeOnly`. Returns undefined if none of them names a field. */
export function toProjection(query: ReadonlyMap<string, readonly string[]>): Projection | undefined {
  if (!query.has('include') && !query.has('exclude') && !query.has('includeOnly')) return undefined;
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

/** Returns true if a projection preserves a field in an item and everything inside that field. */
export function survives(projection: Projection | undefined, path: string): boolean {
  if (!projection) return true;
  const { include, exclude, includeOnly } = projection;
  if (exclude.some((listed) => covers(listed, path) || covers(path, listed))) return false;
  // The documentation does not say whether `include` adds fields or selects them, so only the named fields are certain
  // to be present.
  const limits = [...include, ...includeOnly];
  return limits.length === 0 || limits.some((listed) => covers(listed, path));
}

/** An item in a response, with its JSON pointer. */
export interface Item {
  readonly at: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Returns the value if it is a JSON object, or undefined otherwise. */
export function toObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>;
}

/** Returns the value if it is a JSON array, or an empty array otherwise. */
export function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the items in a response, without their pointers. Items that are not objects are included. */
export function itemValues(itemsAt: ItemsAt, json: unknown): readonly unknown[] {
  return placeOf(itemsAt, json)[1];
}

/** Returns the items in a response that are objects. `itemsAt` states where the operation's responses contain items. */
export function itemsOf(itemsAt: ItemsAt, json: unknown): Item[] {
  const [prefix, values] = placeOf(itemsAt, json);
  return values.flatMap((value, index) => {
    const object = toObject(value);
    return object ? [{ at: itemsAt === 'body' ? '' : `${prefix}/${index}`, value: object }] : [];
  });
}

/** Returns a JSON pointer that matches every item in a response, with `*` for all elements of an array. */
export function itemPlace(itemsAt: ItemsAt): string {
  if (itemsAt === 'body') return '';
  return itemsAt === 'elements' ? '/*' : `/${itemsAt}/*`;
}

function placeOf(itemsAt: ItemsAt, json: unknown): readonly [prefix: string, values: readonly unknown[]] {
  if (itemsAt === 'body') return ['', [json]];
  if (itemsAt === 'elements') return ['', toArray(json)];
  return [`/${itemsAt}`, toArray(toObject(json)?.[itemsAt])];
}

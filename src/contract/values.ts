import type { ItemsAt } from '../model/operation.ts';

/** The decoded parameters of a request. Invalid ones are omitted. */
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
  /** False if inactive relations are also listed (operations 10 and 14). */
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

/** One item of a response, with its JSON pointer. */
export interface Item {
  readonly at: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Returns the value if it is a JSON object, otherwise undefined. */
export function toObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>;
}

/** Returns the value if it is a JSON array, otherwise an empty array. */
export function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the items of a response without their pointers, including items that are not objects. */
export function itemValues(itemsAt: ItemsAt, json: unknown): readonly unknown[] {
  return placeOf(itemsAt, json)[1];
}

/** Returns the items of a response that are objects; `itemsAt` is their location in the operation's responses. */
export function itemsOf(itemsAt: ItemsAt, json: unknown): Item[] {
  const [prefix, values] = placeOf(itemsAt, json);
  return values.flatMap((value, index) => {
    const object = toObject(value);
    return object ? [{ at: itemsAt === 'body' ? '' : `${prefix}/${index}`, value: object }] : [];
  });
}

/** Returns the JSON pointer to every item of a response, with `*` for the elements of an array. */
export function itemPlace(itemsAt: ItemsAt): string {
  if (itemsAt === 'body') return '';
  return itemsAt === 'elements' ? '/*' : `/${itemsAt}/*`;
}

function placeOf(itemsAt: ItemsAt, json: unknown): readonly [prefix: string, values: readonly unknown[]] {
  if (itemsAt === 'body') return ['', [json]];
  if (itemsAt === 'elements') return ['', toArray(json)];
  return [`/${itemsAt}`, toArray(toObject(json)?.[itemsAt])];
}

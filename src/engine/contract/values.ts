import type { ItemsAt } from '../model/operation.ts';

/** A request's decoded parameters. Invalid parameters are omitted. */
export interface ParameterValues {
  /** The decoded path parameters, keyed by name. */
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
  /** True if a list of followers is expected to contain follow relations instead of users (`details=true`). */
  readonly details: boolean;
  /** False if a list of followers is expected to also include inactive follow relations (`active=false`). */
  readonly active: boolean;
  /** True if the request contains `wrap`, with any value. The meaning of `wrap` is not documented. */
  readonly wrap: boolean;
  /** True if the request contains `v1`, with any value. The meaning of `v1` is not documented. */
  readonly v1: boolean;
}

/** The path of a whole item in a projection. */
export const WHOLE_ITEM = '';

/**
 * The fields that a caller selects for each item, as dotted paths relative to the item. `WHOLE_ITEM` stands for all of
 * its fields.
 */
export interface Projection {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly includeOnly: readonly string[];
}

/** An item in a response, with its JSON pointer. */
export interface Item {
  readonly at: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Returns the value if it is a JSON object, or undefined otherwise. */
export const toObject = (value: unknown): Item['value'] | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Item['value']) : undefined;

/** Returns the value if it is a JSON array, or an empty array otherwise. */
export const toArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the items in a response, without their pointers. Items that are not objects are included. */
export function itemValues(itemsAt: ItemsAt, json: unknown): readonly unknown[] {
  return placeOf(itemsAt, json)[1];
}

/** Returns the items in a response, except those that are not objects. `itemsAt` states where the items are. */
export function itemsOf(itemsAt: ItemsAt, json: unknown): Item[] {
  const [prefix, values] = placeOf(itemsAt, json);
  return values.flatMap((value, index) => {
    const object = toObject(value);
    return object ? [{ at: itemsAt === 'body' ? '' : `${prefix}/${index}`, value: object }] : [];
  });
}

/**
 * Returns the JSON pointers of the items for which a test returns true. Items that are not objects are not tested.
 * Usually there are none, so no pointer is made for the other items.
 */
export function pointersToItems(
  itemsAt: ItemsAt,
  json: unknown,
  test: (value: Item['value']) => boolean,
): readonly string[] {
  const [prefix, values] = placeOf(itemsAt, json);
  const found: string[] = [];
  values.forEach((value, index) => {
    const object = toObject(value);
    if (object && test(object)) found.push(itemsAt === 'body' ? '' : `${prefix}/${index}`);
  });
  return found;
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

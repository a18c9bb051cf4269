import type { ItemsAt } from '../model/operation.ts';

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

/** Returns the items of a response that are objects; `itemsAt` says where the operation has them. */
export function itemsOf(itemsAt: ItemsAt, json: unknown): Item[] {
  const [prefix, values] = placeOf(itemsAt, json);
  return values.flatMap((value, index) => {
    const object = toObject(value);
    return object ? [{ at: itemsAt === 'body' ? '' : `${prefix}/${index}`, value: object }] : [];
  });
}

function placeOf(itemsAt: ItemsAt, json: unknown): readonly [prefix: string, values: readonly unknown[]] {
  if (itemsAt === 'body') return ['', [json]];
  if (itemsAt === 'elements') return ['', toArray(json)];
  return [`/${itemsAt}`, toArray(toObject(json)?.[itemsAt])];
}

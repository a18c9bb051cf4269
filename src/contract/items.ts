import type { ItemsAt } from '../model/operation.ts';

/** One item of an answer and where it stands. */
export interface Item {
  readonly at: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A JSON object, or undefined for anything else. */
export function toObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>;
}

/** A JSON array, or an empty one for anything else. */
export function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The items of an answer without their places, objects or not. */
export function itemValues(itemsAt: ItemsAt, json: unknown): readonly unknown[] {
  return placeOf(itemsAt, json)[1];
}

/** The items of an answer that are objects, wherever this operation keeps them. */
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

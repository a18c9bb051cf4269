import { keysOf, pointerTo } from './json-pointer.ts';

/** An object in parsed YAML or JSON. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** Returns true if a value is an object, but not an array or null. */
export function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object, or an empty object otherwise. */
export function membersOf(value: unknown): PlainObject {
  return isPlainObject(value) ? value : {};
}

/**
 * Returns the given options with missing values filled in from `defaults`. Nested objects are merged recursively. Lists
 * and scalars are not merged.
 */
export function withDefaults<T extends object>(defaults: T, given: unknown): T {
  if (!isPlainObject(given)) return defaults;
  const result = { ...defaults } as Record<string, unknown>;
  for (const [key, value] of Object.entries(given)) {
    const fallback = result[key];
    result[key] = isPlainObject(fallback) && isPlainObject(value) ? withDefaults(fallback, value) : value;
  }
  return result as T;
}

/** Returns a copy with a new value at a JSON pointer. Missing objects along the path are created. */
export function withValueAt(root: PlainObject, pointer: string, value: unknown): PlainObject {
  const [, key = '', ...rest] = pointer.split('/');
  if (rest.length === 0) return { ...root, [key]: value };
  const child = root[key];
  return { ...root, [key]: withValueAt(isPlainObject(child) ? child : {}, pointerTo(rest), value) };
}

/** Returns a copy without members that are null, so that a YAML key without a value is treated like a missing key. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([key, member]) => [key, withoutNulls(member)]),
  );
}

/** Returns a copy without the value at a JSON pointer. If the pointer leads into a list, the whole list is removed. */
export function withoutValueAt(root: PlainObject, pointer: string): PlainObject {
  const [key = '', ...rest] = keysOf(pointer);
  const { [key]: child, ...others } = root;
  if (rest.length === 0 || !isPlainObject(child)) return others;
  return { ...others, [key]: withoutValueAt(child, pointerTo(rest)) };
}

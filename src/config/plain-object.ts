import { keysOf, pointerTo } from '../lib/json-pointer.ts';

/** A mapping as it comes out of YAML or JSON. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** True for mappings: not for arrays, null or values of classes. */
export function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Fills what is missing from `defaults`, mapping by mapping; lists and plain values are taken whole. */
export function withDefaults<T extends object>(defaults: T, given: unknown): T {
  if (!isPlainObject(given)) return defaults;
  const result = { ...defaults } as Record<string, unknown>;
  for (const [key, value] of Object.entries(given)) {
    const standard = result[key];
    result[key] = isPlainObject(standard) && isPlainObject(value) ? withDefaults(standard, value) : value;
  }
  return result as T;
}

/** A copy in which the value at a JSON pointer is replaced; mappings on the way are created. */
export function withValueAt(root: PlainObject, pointer: string, value: unknown): PlainObject {
  const [, key = '', ...rest] = pointer.split('/');
  if (rest.length === 0) return { ...root, [key]: value };
  const child = root[key];
  return { ...root, [key]: withValueAt(isPlainObject(child) ? child : {}, pointerTo(rest), value) };
}

/** A copy without members that hold nothing: an empty key in YAML says as much as an absent one. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([key, member]) => [key, withoutNulls(member)]),
  );
}

/** A copy without the value at a JSON pointer; a list on the way goes as a whole. */
export function withoutValueAt(root: PlainObject, pointer: string): PlainObject {
  const [key = '', ...rest] = keysOf(pointer);
  const { [key]: child, ...others } = root;
  if (rest.length === 0 || !isPlainObject(child)) return others;
  return { ...others, [key]: withoutValueAt(child, pointerTo(rest)) };
}

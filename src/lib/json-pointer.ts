/** One name of a JSON pointer (RFC 6901), escaped. */
export function escapePointer(name: string | number): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The JSON pointer to a place that is given by its names and indices. */
export function pointerTo(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${escapePointer(key)}`).join('');
}

/** The names and indices of a JSON pointer. */
export function keysOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value at a JSON pointer (RFC 6901), own members only, or undefined. */
export function valueAt(json: unknown, pointer: string): unknown {
  let value = json;
  for (const name of keysOf(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** A JSON pointer with every index replaced by `*`, so that the same place in all items of a list reads the same. */
export function anyIndex(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*');
}

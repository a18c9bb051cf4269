/** Escapes one reference token of a JSON pointer (RFC 6901). */
export function escapePointer(name: string | number): string {
  const text = String(name);
  // Few names contain `~` or `/`, so the replacements can usually be skipped.
  return /[~/]/.test(text) ? text.replaceAll('~', '~0').replaceAll('/', '~1') : text;
}

/** Builds a JSON pointer from names and indices. */
export function pointerTo(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${escapePointer(key)}`).join('');
}

/** Returns the names and indices in a JSON pointer. */
export function keysOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the value at a JSON pointer (RFC 6901), or undefined if there is none. Ignores inherited properties. */
export function valueAt(json: unknown, pointer: string): unknown {
  let value = json;
  for (const name of keysOf(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/**
 * Replaces every index in a JSON pointer with `*`, so that the same field has the same pointer in every item of a list.
 */
export function anyIndex(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*');
}

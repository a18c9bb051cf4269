/** The value at a JSON pointer (RFC 6901), own members only, or undefined. */
export function valueAt(json: unknown, pointer: string): unknown {
  let value = json;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

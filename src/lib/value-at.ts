import { keysOf } from './json-pointer.ts';

/** The value at a JSON pointer (RFC 6901), own members only, or undefined. */
export function valueAt(json: unknown, pointer: string): unknown {
  let value = json;
  for (const name of keysOf(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

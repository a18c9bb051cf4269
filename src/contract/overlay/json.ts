import { createRequire } from 'node:module';
import type * as JsonP3 from 'json-p3';

/** A mutable JSON object. */
export type JsonObject = Record<string, unknown>;

/** Returns true for a JSON object, and false for an array or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the kind of a value as it is worded in messages, such as `an array`. */
export function kindOfJson(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return { object: 'an object', string: 'a string', number: 'a number', boolean: 'a boolean' }[
    typeof value as 'object'
  ];
}

/** Returns the number of values inside a value, including the value itself. */
export function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, child) => sum + countValues(child), 1);
}

let loaded: typeof JsonP3.jsonpath | undefined;

/** Returns the JSONPath library (RFC 9535). It is loaded on first use, because only overlays need it. */
export function jsonPath(): typeof JsonP3.jsonpath {
  return (loaded ??= (createRequire(import.meta.url)('json-p3') as typeof JsonP3).jsonpath);
}

import { createRequire } from 'node:module';
import type * as JsonP3 from 'json-p3';

/** A JSON object that may be changed. */
export type JsonObject = Record<string, unknown>;

/** True for JSON objects; arrays and null are none. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a value is, in a word for people. */
export function kindOfJson(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return { object: 'an object', string: 'text', number: 'a number', boolean: 'a truth value' }[
    typeof value as 'object'
  ];
}

/** How many values there are in a value, itself included. */
export function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, child) => sum + countValues(child), 1);
}

let loaded: typeof JsonP3.jsonpath | undefined;

/** The library of JSONPath (RFC 9535), loaded when first asked for: a start without overlays does not need it. */
export function jsonPath(): typeof JsonP3.jsonpath {
  return (loaded ??= (createRequire(import.meta.url)('json-p3') as typeof JsonP3).jsonpath);
}

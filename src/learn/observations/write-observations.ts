import type { Observations } from './observations.ts';

/** The largest file of observations, in bytes. */
export const MAX_OBSERVATIONS_BYTES = 1_048_576;

/** Settled observations as the text of a file; undefined when that would be too large. */
export function writeObservations(settled: Observations): string | undefined {
  const text = `${JSON.stringify({ portico: 'observations', version: 1, ...settled }, compact)}\n`;
  return Buffer.byteLength(text) > MAX_OBSERVATIONS_BYTES ? undefined : text;
}

/** Maps become objects; what is nothing is left out, and so are the marks of the running process. */
function compact(key: string, value: unknown): unknown {
  if (key === 'mark' || value === 0 || value === false) return undefined;
  if (!(value instanceof Map)) return value;
  return value.size === 0 ? undefined : Object.fromEntries(value);
}

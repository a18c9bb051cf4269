import { invalidId, notFound, refuse } from './errors.ts';

const MAX_ID = 9_223_372_036_854_775_807n;

/** Parses an id in the path. Refuses with 400 if it is not a 64-bit integer, and with 404 if it exceeds 2^53. */
export function readPathId(text: string, name: string): number {
  if (!/^\d{1,19}$/.test(text) || BigInt(text) > MAX_ID) refuse(invalidId(name));
  const id = Number(text);
  if (!Number.isSafeInteger(id)) refuse(notFound());
  return id;
}

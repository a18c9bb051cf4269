import { invalidId, notFound } from './errors.ts';
import { refuse } from './errors.ts';

const LARGEST = 9_223_372_036_854_775_807n;

/** Reads an id of the path: 400 when it is no 64-bit integer, 404 when it is beyond every id that is given out. */
export function readPathId(text: string, name: string): number {
  if (!/^\d{1,19}$/.test(text) || BigInt(text) > LARGEST) refuse(invalidId(name));
  const id = Number(text);
  if (!Number.isSafeInteger(id)) refuse(notFound());
  return id;
}

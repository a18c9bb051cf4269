import { createHmac } from 'node:crypto';
import { distinctPlace } from '../lib/distinct-count.ts';

/** Gives each caller its place in the bitmap that distinct callers are counted in; everybody without a name shares one. */
export type CallerPlaces = (caller: string | undefined) => number;

const MAX_REMEMBERED = 10_000;

/** Creates the places under a key: without it, they tell nothing about the names. */
export function createCallerPlaces(key: string): CallerPlaces {
  const places = new Map<string, number>();
  const nobody = distinctPlace(hashOf(key, 'anonymous'));
  return (caller) => {
    if (caller === undefined) return nobody;
    const known = places.get(caller);
    if (known !== undefined) return known;
    const place = distinctPlace(hashOf(key, `name ${caller}`));
    if (places.size >= MAX_REMEMBERED) places.clear();
    places.set(caller, place);
    return place;
  };
}

function hashOf(key: string, text: string): number {
  return createHmac('sha256', key).update(text).digest().readUInt32BE(0);
}

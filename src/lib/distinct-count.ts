// 2048 bits: right within a few in a hundred for up to some thousand things, and full at about 15,000.
const BITS = 2_048;

/** Bytes of a bitmap that distinct things are counted in. */
export const DISTINCT_BYTES = BITS / 8;

/** The place of a thing in a bitmap, from any evenly spread number that stands for it. */
export function distinctPlace(hash: number): number {
  return (hash >>> 0) % BITS;
}

/** Marks the things at these places as seen. */
export function markDistinct(bitmap: Uint8Array, places: Iterable<number>): void {
  for (const place of places) bitmap[place >> 3] = (bitmap[place >> 3] ?? 0) | (1 << (place & 7));
}

/** The estimated number of distinct things that were marked: linear counting, from the share of bits that are still clear. */
export function estimateDistinct(bitmap: Uint8Array): number {
  let marked = 0;
  for (let byte of bitmap) for (; byte !== 0; byte &= byte - 1) marked += 1;
  // A full bitmap says "at least this many"; a logarithm of nothing would say endlessly many.
  const clear = Math.max(1, BITS - marked);
  return Math.round(BITS * Math.log(BITS / clear));
}

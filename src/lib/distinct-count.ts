// With 2048 bits, the count is accurate to within a few percent for up to several thousand items. The bitmap is full at
// about 15,000 items.
const BITS = 2_048;

/** The size of a bitmap for counting distinct items, in bytes. */
export const DISTINCT_BYTES = BITS / 8;

/**
 * Returns the position of an item in a bitmap. `hash` is an evenly distributed number that is derived from the item.
 */
export function distinctPlace(hash: number): number {
  return (hash >>> 0) % BITS;
}

/** Marks the items at these positions as counted. */
export function markDistinct(bitmap: Uint8Array, places: Iterable<number>): void {
  for (const place of places) bitmap[place >> 3] = (bitmap[place >> 3] ?? 0) | (1 << (place & 7));
}

/** Estimates the number of distinct items from the fraction of bits that are clear (linear counting). */
export function estimateDistinct(bitmap: Uint8Array): number {
  let marked = 0;
  for (let byte of bitmap) for (; byte !== 0; byte &= byte - 1) marked += 1;
  // A full bitmap is treated as if one bit were clear, because the estimate would otherwise be infinite.
  const clear = Math.max(1, BITS - marked);
  return Math.round(BITS * Math.log(BITS / clear));
}

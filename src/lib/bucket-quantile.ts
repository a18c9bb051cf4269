/**
 * The value below which a share (0 to 1) of what was counted in buckets lies, taken as evenly spread within its bucket; undefined
 * where nothing was counted. What fell into the first bucket is told as its bound, and so is what fell beyond the last one, for
 * which `counts` has one more place than there are bounds.
 */
export function bucketQuantile(
  share: number,
  bounds: readonly number[],
  counts: ArrayLike<number>,
): number | undefined {
  let total = 0;
  for (let index = 0; index < counts.length; index++) total += counts[index] ?? 0;
  if (total === 0) return undefined;
  const rank = share * total;
  let below = 0;
  for (const [index, bound] of bounds.entries()) {
    const count = counts[index] ?? 0;
    if (count > 0 && below + count >= rank) {
      const lower = bounds[index - 1] ?? bound;
      return lower + (bound - lower) * ((rank - below) / count);
    }
    below += count;
  }
  return bounds.at(-1);
}

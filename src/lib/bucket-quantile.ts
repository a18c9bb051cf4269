/**
 * Returns a quantile of a histogram, interpolated linearly within its bucket, or undefined if the histogram is empty.
 * `share` is a number from 0 to 1, and `counts` has one more entry than `bounds`. The result is never below the first
 * bound or above the last one.
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

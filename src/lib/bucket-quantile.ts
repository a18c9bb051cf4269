/**
 * Returns a quantile of a histogram (`share` is from 0 to 1), interpolated linearly within its bucket, or undefined if
 * the histogram is empty. In the first bucket, the result is that bucket's upper bound; above the last bound, it is the
 * last bound. `counts` has one entry more than `bounds`.
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

/** The bounds within which a share lies, from 0 to 1. */
interface ShareBounds {
  readonly lower: number;
  readonly upper: number;
}

/**
 * Returns the Wilson score interval for a share of which `successes` out of `trials` were seen. `z` is the z-score of
 * the two-sided confidence level: 1.96 for 95%, 2.576 for 99%. Without trials, nothing is known about the share.
 */
export function shareBounds(successes: number, trials: number, z = 1.96): ShareBounds {
  if (trials <= 0) return { lower: 0, upper: 1 };
  const share = Math.min(successes, trials) / trials;
  const square = z * z;
  const center = share + square / (2 * trials);
  const spread = z * Math.sqrt((share * (1 - share) + square / (4 * trials)) / trials);
  const scale = 1 + square / trials;
  return { lower: Math.max(0, (center - spread) / scale), upper: Math.min(1, (center + spread) / scale) };
}

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

/** Above this number, the exact bound takes long to compute. The approximate one is higher with one more failure. */
const MAX_EXACT = 2_000;

/**
 * Returns the upper bound of a share of which `failures` out of `trials` were seen, with a one-sided confidence of 95%
 * (Clopper and Pearson): if the share were higher, so few failures would be seen in at most one of 20 cases. Without
 * failures, this is about 3 divided by the number of trials.
 */
export function upperShare(failures: number, trials: number): number {
  if (trials <= 0 || failures >= trials) return 1;
  if (failures === 0) return 1 - 0.05 ** (1 / trials);
  if (failures > MAX_EXACT) return shareBounds(failures + 1, trials, 1.645).upper;
  let [low, high] = [failures / trials, 1];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (atMost(failures, trials, middle) > 0.05) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the probability of at most `failures` failures in `trials`, if each of them fails with this probability. */
function atMost(failures: number, trials: number, probability: number): number {
  // Each term follows from the one before it. Logarithms are used because the first term can be tiny.
  const odds = Math.log(probability) - Math.log1p(-probability);
  let term = trials * Math.log1p(-probability);
  let sum = Math.exp(term);
  for (let count = 1; count <= failures; count += 1) {
    term += Math.log((trials - count + 1) / count) + odds;
    sum += Math.exp(term);
  }
  return sum;
}

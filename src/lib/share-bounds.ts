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

/**
 * Returns the upper bound of a share of which `failures` out of `trials` were seen, with a one-sided confidence of 95%
 * (Clopper and Pearson): if the share were higher, so few failures would be seen in at most one of 20 cases. Without
 * failures, this is about 3 divided by the number of trials.
 */
export function upperShare(failures: number, trials: number): number {
  if (trials <= 0 || failures >= trials) return 1;
  if (failures === 0) return 1 - 0.05 ** (1 / trials);
  let [low, high] = [failures / trials, 1];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (atMost(failures, trials, middle) > 0.05) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * Returns the probability of at most `failures` failures in `trials`, if each of them fails with this probability, of
 * which more failures are expected. Fewer failures are then less and less probable, so most of them need no sum.
 */
function atMost(failures: number, trials: number, probability: number): number {
  const passed = trials - failures;
  let term = Math.exp(
    logFactorial(trials) -
      logFactorial(failures) -
      logFactorial(passed) +
      failures * Math.log(probability) +
      passed * Math.log1p(-probability),
  );
  let sum = term;
  for (let count = failures; count > 0 && term > sum * Number.EPSILON; count -= 1) {
    term *= (count / (trials - count + 1)) * ((1 - probability) / probability);
    sum += term;
  }
  return sum;
}

/** Returns the logarithm of a factorial, by Stirling's series. */
function logFactorial(count: number): number {
  if (count < 20) return logFactorial(count + 1) - Math.log(count + 1);
  const correction = 1 / (12 * count) - 1 / (360 * count ** 3) + 1 / (1260 * count ** 5);
  return (count + 0.5) * Math.log(count) - count + Math.log(2 * Math.PI) / 2 + correction;
}

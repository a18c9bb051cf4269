// 95 % confidence, two-sided.
const Z = 1.96;

/** Returns the lower bound of the Wilson score interval for the share of successes in trials, from 0 to 1. */
export function wilsonBound(successes: number, trials: number): number {
  if (trials <= 0) return 0;
  const share = Math.min(successes, trials) / trials;
  const square = Z * Z;
  const centre = share + square / (2 * trials);
  const spread = Z * Math.sqrt((share * (1 - share) + square / (4 * trials)) / trials);
  return Math.max(0, (centre - spread) / (1 + square / trials));
}

/** Returns a word for a confidence, for display. */
export function confidenceWord(confidence: number): 'high' | 'fair' | 'low' {
  const shown = shownConfidence(confidence);
  if (shown >= 0.9) return 'high';
  return shown >= 0.7 ? 'fair' : 'low';
}

/** Rounds a confidence to two digits for display. The maximum is 0.99, because nothing is certain. */
export function shownConfidence(confidence: number): number {
  return Math.min(0.99, Math.round(confidence * 100) / 100);
}

/**
 * Returns the confidence in something that all of these values, from this number of responses, have in common. The items of
 * one response are not independent, so the number of trials is the harmonic mean of values and responses.
 */
export function confidenceOf(values: number, answers: number): number {
  const trials = values + answers === 0 ? 0 : (2 * values * answers) / (values + answers);
  return wilsonBound(trials, trials);
}

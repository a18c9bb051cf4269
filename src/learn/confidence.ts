// 95 % confidence, two-sided.
const Z = 1.96;

/** The lower end of the Wilson interval: the least share that so many successes in so many trials make believable. */
export function wilsonBound(successes: number, trials: number): number {
  if (trials <= 0) return 0;
  const share = Math.min(successes, trials) / trials;
  const square = Z * Z;
  const centre = share + square / (2 * trials);
  const spread = Z * Math.sqrt((share * (1 - share) + square / (4 * trials)) / trials);
  return Math.max(0, (centre - spread) / (1 + square / trials));
}

/** A confidence in a word, for readers. */
export function confidenceWord(confidence: number): 'high' | 'fair' | 'low' {
  const shown = shownConfidence(confidence);
  if (shown >= 0.9) return 'high';
  return shown >= 0.7 ? 'fair' : 'low';
}

/** A confidence with two digits, as all readers are shown it; nothing is ever certain. */
export function shownConfidence(confidence: number): number {
  return Math.min(0.99, Math.round(confidence * 100) / 100);
}

/**
 * The confidence in what all of some values say, when they came in so many answers. Items of one answer are made by one hand at
 * one moment: however many they are, together they count as less than two, by the harmonic mean of values and answers.
 */
export function confidenceOf(values: number, answers: number): number {
  const trials = values + answers === 0 ? 0 : (2 * values * answers) / (values + answers);
  return wilsonBound(trials, trials);
}

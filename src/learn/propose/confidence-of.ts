import { wilsonBound } from './wilson-bound.ts';

/**
 * The confidence in what all of some values say, when they came in so many answers. Items of one answer are made by one hand at
 * one moment: however many they are, together they count as less than two, by the harmonic mean of values and answers.
 */
export function confidenceOf(values: number, answers: number): number {
  const trials = values + answers === 0 ? 0 : (2 * values * answers) / (values + answers);
  return wilsonBound(trials, trials);
}

import { shareBounds } from '../../lib/share-bounds.ts';
import type { Proposal } from './propose/proposal.ts';
import type { Shape } from '../../learner/shape/shape.ts';

/** Returns the lower bound of the Wilson score interval for a success rate, from 0 to 1. */
export function wilsonBound(successes: number, trials: number): number {
  return shareBounds(successes, trials).lower;
}

/** Returns `high`, `fair` or `low` for a confidence value. */
export function confidenceWord(confidence: number): 'high' | 'fair' | 'low' {
  const shown = shownConfidence(confidence);
  if (shown >= 0.9) return 'high';
  return shown >= 0.7 ? 'fair' : 'low';
}

/** Rounds a confidence value to two decimals for display. The maximum is 0.99, because no statement is certain. */
export function shownConfidence(confidence: number): number {
  return Math.min(0.99, Math.round(confidence * 100) / 100);
}

/**
 * Returns the confidence that all `values` share a property, given the number of `responses` that contained them. The
 * number of trials is the harmonic mean of the two numbers, because the items in one response are not independent.
 */
export function confidenceOf(values: number, responses: number): number {
  const trials = values + responses === 0 ? 0 : (2 * values * responses) / (values + responses);
  return wilsonBound(trials, trials);
}

/**
 * Returns the confidence and the evidence that the values of a shape provide. `of` is the number of objects that could
 * have had such a value, if known.
 */
export function supportOf(shape: Shape, of?: number): Pick<Proposal, 'confidence' | 'evidence'> {
  const { seen, answers, firstSeenAt, lastSeenAt } = shape;
  return {
    confidence: confidenceOf(seen, answers),
    // If the caller selected the fields, values are counted but objects are not, so `seen` can exceed `of`.
    evidence: { seen, answers, ...(of !== undefined && { of: Math.max(of, seen) }), firstSeenAt, lastSeenAt },
  };
}

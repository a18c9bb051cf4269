import { describe, expect, it } from 'vitest';
import { confidenceWord, shownConfidence, wilsonBound } from '../../../src/workbench/learn/confidence.ts';

describe('wilsonBound', () => {
  it('is low for few trials and high for many', () => {
    const bounds = [0, 1, 3, 20, 100, 10_000].map((count) => Number(wilsonBound(count, count).toFixed(2)));
    expect(bounds).toEqual([0, 0.21, 0.44, 0.84, 0.96, 1]);
  });

  it('decreases with contradicting trials', () => {
    expect(wilsonBound(50, 100)).toBeCloseTo(0.404, 3);
    expect(wilsonBound(0, 100)).toBeCloseTo(0, 10);
  });

  it('is rounded to two digits, below certainty', () => {
    expect([0.849, 0.994, 0.9999].map(shownConfidence)).toEqual([0.85, 0.99, 0.99]);
  });

  it('is described by a word', () => {
    expect([0.95, 0.8, 0.5].map(confidenceWord)).toEqual(['high', 'fair', 'low']);
  });
});

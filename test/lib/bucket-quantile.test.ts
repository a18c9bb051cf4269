import { describe, expect, it } from 'vitest';
import { bucketQuantile } from '../../src/lib/bucket-quantile.ts';

const bounds = [1, 2, 4];

describe('the quantile of bucketed counts', () => {
  it.each([
    ['is nothing where nothing was counted', 0.5, [0, 0, 0, 0], undefined],
    ['lies evenly within its bucket', 0.5, [0, 10, 0, 0], 1.5],
    ['lies in the bucket that its rank falls into', 0.99, [98, 0, 2, 0], 3],
    ['passes over empty buckets', 0.5, [0, 0, 4, 0], 3],
    ['is the first bound at most where it fell below that', 0.5, [10, 0, 0, 0], 1],
    ['is the last bound where it fell beyond that', 0.99, [1, 0, 0, 99], 4],
  ])('%s', (_name, share, counts, expected) => {
    expect(bucketQuantile(share, bounds, counts)).toBe(expected);
  });
});

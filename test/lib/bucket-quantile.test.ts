import { describe, expect, it } from 'vitest';
import { bucketQuantile } from '../../src/lib/bucket-quantile.ts';

const bounds = [1, 2, 4];

describe('the quantile of bucketed counts', () => {
  it.each([
    ['is undefined without counts', 0.5, [0, 0, 0, 0], undefined],
    ['is interpolated linearly within its bucket', 0.5, [0, 10, 0, 0], 1.5],
    ['is in the bucket that contains its rank', 0.99, [98, 0, 2, 0], 3],
    ['skips empty buckets', 0.5, [0, 0, 4, 0], 3],
    ['is at most the first bound for values below it', 0.5, [10, 0, 0, 0], 1],
    ['is the last bound for values above it', 0.99, [1, 0, 0, 99], 4],
  ])('%s', (_name, share, counts, expected) => {
    expect(bucketQuantile(share, bounds, counts)).toBe(expected);
  });
});

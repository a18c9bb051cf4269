import { describe, expect, it } from 'vitest';
import type { ReturnOptions } from '../../../src/features/cutover/options.ts';
import { createWatch, type Sample } from '../../../src/features/cutover/watch.ts';
import { createTestClock } from '../../builders/test-clock.ts';

const OPTIONS: ReturnOptions = {
  action: 'return',
  windowSeconds: 60,
  minimum: 10,
  errors: 0.1,
  violations: 0.1,
  refusals: 0.2,
  differences: 3,
  latency: { measure: 'p95', factor: 3, floorMs: 100 },
  coolDownSeconds: 600,
};

const sample = (side: Sample['side'], more: Partial<Sample> = {}): Sample => ({
  side,
  operation: 'listBooks',
  failed: false,
  violated: false,
  refused: false,
  seconds: 0.01,
  ...more,
});

const open = (changes: Partial<ReturnOptions> = {}) => {
  const clock = createTestClock();
  const watch = createWatch({ ...OPTIONS, ...changes }, ['listBooks', 'listShelves'], clock);
  const take = (count: number, one: Sample) => Array.from({ length: count }, () => watch.take(one)).findLast(Boolean);
  return { clock, watch, take };
};

describe('a limit', () => {
  it('is exceeded with the exchange with which it is certain, and not before the minimum', () => {
    const { watch, take } = open();
    expect(take(9, sample('new', { failed: true }))).toBeUndefined();
    expect(watch.take(sample('new', { failed: true }))).toMatchObject({ limit: 'errors', operation: 'listBooks' });
  });

  it('is not exceeded by what happened before the window', () => {
    const { clock, take } = open();
    take(9, sample('new', { failed: true }));
    clock.advance(60);
    expect(take(9, sample('new', { failed: true }))).toBeUndefined();
  });

  it('counts for one operation, even if others work', () => {
    const { take } = open();
    take(1000, sample('new', { operation: 'listShelves' }));
    expect(take(10, sample('new', { failed: true }))).toMatchObject({ operation: 'listBooks' });
  });

  it('counts for all operations together, even if each has too few exchanges', () => {
    const { take } = open();
    take(6, sample('new', { failed: true }));
    expect(take(6, sample('new', { failed: true, operation: 'listShelves' }))).toMatchObject({ operation: undefined });
  });

  it.each(['failed', 'violated'] as const)('is not exceeded if the old server is as bad: %s', (what) => {
    const { take } = open();
    take(10, sample('old', { [what]: true }));
    expect(take(20, sample('new', { [what]: true }))).toBeUndefined();
  });

  it('is exceeded even if one of the few exchanges with the old server has failed, too', () => {
    const { take } = open();
    take(1, sample('old', { failed: true }));
    expect(take(10, sample('new', { failed: true }))).toMatchObject({ limit: 'errors' });
  });

  it('on refusals needs a comparison with the old server', () => {
    const { take } = open();
    expect(take(20, sample('new', { refused: true }))).toBeUndefined();
    take(20, sample('old'));
    expect(take(1, sample('new', { refused: true }))).toMatchObject({ limit: 'refusals' });
  });

  it('on latency compares the same operation, and ignores what is fast enough', () => {
    const { clock, take } = open();
    take(20, sample('old', { seconds: 0.05 }));
    take(20, sample('new', { seconds: 0.14 }));
    clock.advance(1);
    expect(take(1, sample('new', { seconds: 0.14 }))).toBeUndefined();
    take(20, sample('new', { seconds: 0.2 }));
    clock.advance(1);
    expect(take(1, sample('new', { seconds: 0.2 }))).toBeUndefined();
    clock.advance(15);
    expect(take(1, sample('new', { seconds: 0.2 }))).toMatchObject({
      limit: 'latency',
      words: 'p95 200 ms, on the old server 50 ms',
    });
  });

  it('on latency begins anew after a return, and after a time with too few exchanges', () => {
    const { clock, watch, take } = open();
    const slow = (seconds: number) => {
      take(20, sample('old'));
      clock.advance(seconds);
      take(10, sample('old'));
      return take(10, sample('new', { seconds: 0.9 }));
    };
    slow(0);
    expect(slow(10)).toBeUndefined();
    watch.forget();
    expect(slow(10)).toBeUndefined();
    expect(slow(10)).toBeUndefined();
    clock.advance(100);
    expect(slow(0)).toBeUndefined();
    expect(slow(15)).toMatchObject({ limit: 'latency' });
  });

  it('on differences counts those in the window', () => {
    const { clock, watch } = open();
    watch.difference();
    watch.difference();
    clock.advance(61);
    expect(watch.difference()).toBeUndefined();
    watch.difference();
    expect(watch.difference()).toMatchObject({ limit: 'differences' });
  });
});

describe('the counts', () => {
  it('stay bounded, and forget the new server after a return', () => {
    const { watch, take } = open();
    take(5000, sample('new'));
    take(20, sample('old'));
    const of = (side: string) =>
      watch.counts().find((one) => one.operation === 'listBooks' && one.side === side)?.exchanges;
    expect(of('new')).toBe(2000);
    watch.forget();
    expect([of('new'), of('old')]).toEqual([0, 20]);
  });
});

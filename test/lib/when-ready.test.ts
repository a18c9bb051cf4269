import { describe, expect, it } from 'vitest';
import { whenReady } from '../../src/lib/when-ready.ts';

const fail = (): never => {
  throw new Error('no');
};

describe('what goes on with a value', () => {
  it('is done at once where the value is there', () => {
    expect(whenReady(1, (value) => value + 1)).toBe(2);
    expect(whenReady(undefined, (value) => [value])).toEqual([undefined]);
  });

  it('waits where the value has to be waited for', async () => {
    const later = Promise.withResolvers<number>();
    const seen: number[] = [];
    const done = whenReady(later.promise, (value) => seen.push(value));
    expect(done).toBeInstanceOf(Promise);
    expect(seen).toEqual([]);
    later.resolve(3);
    await done;
    expect(seen).toEqual([3]);
  });

  it('gives one promise where it has to be waited for itself', async () => {
    expect(await whenReady(Promise.resolve(1), (value) => Promise.resolve(value + 1))).toBe(2);
    expect(await whenReady(1, (value) => Promise.resolve(value + 1))).toBe(2);
  });

  it('throws at once or rejects, as the value came', async () => {
    expect(() => whenReady(1, fail)).toThrow('no');
    await expect(whenReady(Promise.resolve(1), fail)).rejects.toThrow('no');
  });

  it('does not go on with a failure', async () => {
    const seen: unknown[] = [];
    const failed = whenReady(Promise.reject<number>(new Error('gone')), (value) => seen.push(value));
    await expect(failed).rejects.toThrow('gone');
    expect(seen).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { whenReady } from '../../src/lib/when-ready.ts';

const fail = (): never => {
  throw new Error('no');
};

describe('whenReady', () => {
  it('applies the function at once to an available value', () => {
    expect(whenReady(1, (value) => value + 1)).toBe(2);
    expect(whenReady(undefined, (value) => [value])).toEqual([undefined]);
  });

  it('waits for a pending value', async () => {
    const later = Promise.withResolvers<number>();
    const seen: number[] = [];
    const done = whenReady(later.promise, (value) => seen.push(value));
    expect(done).toBeInstanceOf(Promise);
    expect(seen).toEqual([]);
    later.resolve(3);
    await done;
    expect(seen).toEqual([3]);
  });

  it('returns one promise if the function returns a promise', async () => {
    expect(await whenReady(Promise.resolve(1), (value) => Promise.resolve(value + 1))).toBe(2);
    expect(await whenReady(1, (value) => Promise.resolve(value + 1))).toBe(2);
  });

  it('throws for an available value and rejects for a pending one', async () => {
    expect(() => whenReady(1, fail)).toThrow('no');
    await expect(whenReady(Promise.resolve(1), fail)).rejects.toThrow('no');
  });

  it('does not call the function after a rejection', async () => {
    const seen: unknown[] = [];
    const failed = whenReady(Promise.reject<number>(new Error('gone')), (value) => seen.push(value));
    await expect(failed).rejects.toThrow('gone');
    expect(seen).toEqual([]);
  });
});

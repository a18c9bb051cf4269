import { describe, expect, it } from 'vitest';
import { boundedMemo, createLruMap } from '../../src/lib/bounded-maps.ts';

/** Creates a memo that records the calls to its function. */
function counted<Value>(max: number, compute: (key: number) => Value) {
  const calls: number[] = [];
  const remembered = boundedMemo(max, (key: number) => {
    calls.push(key);
    return compute(key);
  });
  return { remembered, calls };
}

describe('boundedMemo', () => {
  it.each([
    ['a value', (key: number) => key * 2],
    ['undefined', () => undefined],
  ])('computes %s once per key', (_what, compute) => {
    const { remembered, calls } = counted(10, compute);
    const keys = [1, 2, 1, 2];
    expect(keys.map((key) => remembered(key))).toEqual(keys.map(compute));
    expect(calls).toEqual([1, 2]);
  });

  it('passes its arguments to the function', () => {
    const remembered = boundedMemo(10, (key: string, given: { readonly suffix: string }) => key + given.suffix);
    expect(remembered('a', { suffix: '-1' })).toBe('a-1');
  });

  // Many of the keys come from requests. Without a limit, they could exhaust memory.
  it('remembers no more keys than its limit', () => {
    const { remembered, calls } = counted(10, String);
    for (let key = 0; key < 100; key += 1) remembered(key);
    calls.length = 0;
    for (let key = 99; key >= 0; key -= 1) remembered(key);
    expect(100 - calls.length).toBeLessThanOrEqual(10);
    expect(calls).toContain(0);
  });

  // A client that sends many keys must not cause other clients' values to be recomputed repeatedly.
  it('remembers a key in frequent use, however many others arrive', () => {
    const { remembered, calls } = counted(10, String);
    for (let key = 1; key < 100; key += 1) {
      remembered(0);
      remembered(key);
    }
    expect(calls.filter((key) => key === 0)).toEqual([0]);
  });
});

describe('an LRU map', () => {
  it('removes the least recently used entry when it is full', () => {
    const map = createLruMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.get('a');
    map.set('c', 3);
    expect([...map.keys()].toSorted()).toEqual(['a', 'c']);
  });

  it('reports only the keys that it removes to make room', () => {
    const evicted: string[] = [];
    const map = createLruMap<string, number>(2, (key) => evicted.push(key));
    map.set('a', 1);
    map.set('a', 2);
    map.set('b', 3);
    map.delete('b');
    map.set('c', 4);
    map.set('d', 5);
    expect(evicted).toEqual(['a']);
  });
});

import { describe, expect, it } from 'vitest';
import { createLruMap } from '../../src/lib/lru-map.ts';

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

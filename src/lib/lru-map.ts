import { LRUCache } from 'lru-cache';

/** Returns 1. Because it is a bound built-in function, requests that add an entry run no code from this file. */
const one: () => number = Number.bind(undefined, 1);

/**
 * Creates a map with at most `max` entries, which removes the least recently used entry first and passes its key to
 * `evicted`. If the library were given the maximum number of entries, it would allocate the whole table at startup.
 * Because it is given a maximum size instead, the memory grows with the entries.
 */
export function createLruMap<Key extends string, Value extends object | string | number | boolean>(
  max: number,
  evicted?: (key: Key) => void,
): LRUCache<Key, Value> {
  return new LRUCache<Key, Value>({
    maxSize: max,
    sizeCalculation: one,
    ...(evicted && {
      dispose: (_value, key, reason) => {
        if (reason === 'evict') evicted(key);
      },
    }),
  });
}

import { LRUCache } from 'lru-cache';

/**
 * Creates a function that caches the results of a pure function for at most `max` keys. For a new key, `given` is also
 * passed to the pure function, but must not affect the result.
 * The cache has two halves. When the newer half is full, it replaces the older half. A frequently used key therefore
 * stays in memory no matter how many other keys are added. For most keys, a lookup in the newer half suffices.
 */
export function boundedMemo<Key, Value, Given = void>(
  max: number,
  compute: (key: Key, given: Given) => Value,
): (key: Key, given: Given) => Value {
  let newer = new Map<Key, Value>();
  let older = new Map<Key, Value>();
  return (key, given) => {
    const known = newer.get(key);
    if (known !== undefined || newer.has(key)) return known as Value;
    const value = older.has(key) ? (older.get(key) as Value) : compute(key, given);
    newer.set(key, value);
    if (newer.size >= max / 2) {
      older = newer;
      newer = new Map();
    }
    return value;
  };
}

/**
 * Creates a map with at most `max` entries. When the map is full, it removes the least recently used entry and passes
 * its key to `evicted`. If `lru-cache` were given the maximum number of entries, it would allocate the whole table at
 * startup. Because it is given a maximum size instead, its memory use grows with the number of entries.
 */
export function createLruMap<Key extends string, Value extends object | string | number | boolean>(
  max: number,
  evicted?: (key: Key) => void,
): LRUCache<Key, Value> {
  return new LRUCache<Key, Value>({
    maxSize: max,
    sizeCalculation: () => 1,
    ...(evicted && {
      dispose: (_value, key, reason) => {
        if (reason === 'evict') evicted(key);
      },
    }),
  });
}

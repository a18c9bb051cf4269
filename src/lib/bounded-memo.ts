/** Caches the results of a pure function for at most `max` arguments; a full cache is cleared. */
export function boundedMemo<Key, Value>(max: number, compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const value = compute(key);
    if (known.size >= max) known.clear();
    known.set(key, value);
    return value;
  };
}

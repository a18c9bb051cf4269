/** The keys of stored pages by tag. */
export interface TagIndex {
  add(key: string, tags: Iterable<string>): void;
  remove(key: string, tags: Iterable<string>): void;
  keysOf(tag: string): readonly string[];
  clear(): void;
  /** Returns every tag with its number of keys. */
  counts(): Iterable<readonly [tag: string, keys: number]>;
  /** The number of different tags. */
  readonly size: number;
}

/** Creates an empty index. */
export function createTagIndex(): TagIndex {
  const keys = new Map<string, Set<string>>();
  return {
    add(key, tags) {
      for (const tag of tags) {
        const tagged = keys.get(tag);
        if (tagged) tagged.add(key);
        else keys.set(tag, new Set([key]));
      }
    },
    remove(key, tags) {
      for (const tag of tags) {
        const tagged = keys.get(tag);
        if (tagged?.delete(key) === true && tagged.size === 0) keys.delete(tag);
      }
    },
    keysOf: (tag) => [...(keys.get(tag) ?? [])],
    clear: () => keys.clear(),
    counts: () => [...keys].map(([tag, tagged]) => [tag, tagged.size] as const),
    get size() {
      return keys.size;
    },
  };
}

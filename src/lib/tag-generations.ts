/** Records when tags last changed, so that work that began before a change can be distinguished from later work. */
interface TagGenerations {
  /** The current generation, which increases with every change. */
  readonly current: number;
  /**
   * Records a change to these tags. If changes are numbered elsewhere, `generation` is the change's number. These
   * numbers must not decrease.
   */
  move(tags: Iterable<string>, generation?: number): void;
  /** Records a change to all tags. */
  moveAll(generation?: number): void;
  /**
   * Returns true if none of the tags has changed since the given generation. Returns false if a tag has changed or if
   * this can no longer be determined.
   */
  unmoved(tags: Iterable<string>, since: number): boolean;
  /** The number of stored tags. */
  readonly size: number;
}

/**
 * Stores the latest generations of at most `maxTags` tags. When a tag is dropped, `unmoved` returns false for all
 * generations before its latest change. Dropping a tag can cause unnecessary requests, but never a stale result.
 */
export function createTagGenerations(maxTags = 10_000): TagGenerations {
  // The tags are sorted by latest change, so the first tag is dropped first.
  const moved = new Map<string, number>();
  let minimum = 0;

  const dropOldest = () => {
    for (const [tag, at] of moved) {
      if (moved.size <= maxTags) return;
      moved.delete(tag);
      minimum = Math.max(minimum, at);
    }
  };

  // `current` is a plain property rather than a getter, because every request reads it.
  const generations: Omit<TagGenerations, 'current'> & { current: number } = {
    current: 0,
    move(tags: Iterable<string>, generation = generations.current + 1) {
      generations.current = generation;
      for (const tag of tags) {
        moved.delete(tag);
        moved.set(tag, generations.current);
      }
      dropOldest();
    },
    moveAll(generation = generations.current + 1) {
      generations.current = generation;
      minimum = generations.current;
      moved.clear();
    },
    unmoved(tags: Iterable<string>, since: number) {
      if (since === generations.current) return true;
      if (since < minimum) return false;
      for (const tag of tags) if ((moved.get(tag) ?? 0) > since) return false;
      return true;
    },
    get size() {
      return moved.size;
    },
  };
  return generations;
}

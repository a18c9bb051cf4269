/** Records when tags last changed, to distinguish work that began before a change from work that began after it. */
interface TagGenerations {
  /** The current generation, which grows with every change. */
  readonly current: number;
  /** Moves these tags to a new generation. */
  move(tags: Iterable<string>): void;
  /** Moves all tags to a new generation. */
  moveAll(): void;
  /** Returns true if none of the tags has moved since that generation; false if this is no longer known. */
  unmoved(tags: Iterable<string>, since: number): boolean;
  /** The number of stored tags. */
  readonly size: number;
}

/**
 * Stores the latest generation of at most `maxTags` tags. Dropping a tag raises a minimum below which every tag counts
 * as moved: the bound can cause needless refetches, but never a stale result.
 */
export function createTagGenerations(maxTags = 10_000): TagGenerations {
  // In the order of the latest move, so the first tag is the one to drop.
  const moved = new Map<string, number>();
  let minimum = 0;

  const dropOldest = () => {
    for (const [tag, at] of moved) {
      if (moved.size <= maxTags) return;
      moved.delete(tag);
      minimum = Math.max(minimum, at);
    }
  };

  // A plain property, because every request reads it.
  const generations = {
    current: 0,
    move(tags: Iterable<string>) {
      generations.current += 1;
      for (const tag of tags) {
        moved.delete(tag);
        moved.set(tag, generations.current);
      }
      dropOldest();
    },
    moveAll() {
      generations.current += 1;
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

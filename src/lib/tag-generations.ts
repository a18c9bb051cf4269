/** Records when tags last changed, to distinguish work that began before a change from work that began after it. */
interface TagGenerations {
  /** Returns the current generation, which grows with every change. */
  now(): number;
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
  let generation = 0;
  let minimum = 0;

  const dropOldest = () => {
    for (const [tag, at] of moved) {
      if (moved.size <= maxTags) return;
      moved.delete(tag);
      minimum = Math.max(minimum, at);
    }
  };

  return {
    now: () => generation,
    move(tags) {
      generation += 1;
      for (const tag of tags) {
        moved.delete(tag);
        moved.set(tag, generation);
      }
      dropOldest();
    },
    moveAll() {
      generation += 1;
      minimum = generation;
      moved.clear();
    },
    unmoved(tags, since) {
      if (since === generation) return true;
      if (since < minimum) return false;
      for (const tag of tags) if ((moved.get(tag) ?? 0) > since) return false;
      return true;
    },
    get size() {
      return moved.size;
    },
  };
}

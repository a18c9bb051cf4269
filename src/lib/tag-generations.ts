/** Remembers when tags last moved, so that work begun before can be told from work begun after. */
export interface TagGenerations {
  /** The present generation; grows with every move. */
  now(): number;
  /** Moves the given tags to a new generation. */
  move(tags: Iterable<string>): void;
  /** Moves every tag there is. */
  moveAll(): void;
  /** True when none of the tags has moved since that generation; false when this is no longer known. */
  unmoved(tags: Iterable<string>, since: number): boolean;
  /** The number of tags remembered. */
  readonly size: number;
}

/**
 * Keeps the latest generation of at most `maxTags` tags. What is forgotten raises a floor under which nothing
 * counts as unmoved any more: bounded memory can cost a needless refusal, never a false acceptance.
 */
export function createTagGenerations(maxTags = 10_000): TagGenerations {
  // In the order of the latest move, so that the first one is the one to forget.
  const moved = new Map<string, number>();
  let generation = 0;
  let floor = 0;

  const forgetOldest = () => {
    for (const [tag, at] of moved) {
      if (moved.size <= maxTags) return;
      moved.delete(tag);
      floor = Math.max(floor, at);
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
      forgetOldest();
    },
    moveAll() {
      generation += 1;
      floor = generation;
      moved.clear();
    },
    unmoved(tags, since) {
      if (since === generation) return true;
      if (since < floor) return false;
      for (const tag of tags) if ((moved.get(tag) ?? 0) > since) return false;
      return true;
    },
    get size() {
      return moved.size;
    },
  };
}

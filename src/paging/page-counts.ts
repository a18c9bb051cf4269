import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import { createTagGenerations } from '../lib/tag-generations.ts';
import type { PagingOptions } from './paging-options.ts';

/** The counts in the response of a list. */
interface LearnedList {
  readonly pageCount: unknown;
  readonly totalCount: unknown;
}

/** Page counts learned from responses, by the cache key without `page` (rules, 5). */
export interface PageCounts {
  /** Returns the learned count, unless it is too old or one of its tags was dropped. */
  learned(key: string): number | undefined;
  /** Returns the current generation; read it before the upstream is asked and pass it to `learn`. */
  generation(): number;
  /** Stores a count, unless the list is empty or one of the tags was dropped since `generation`. */
  learn(key: string, list: LearnedList, tags: readonly string[], generation: number): void;
  /** Drops every count with one of the tags. */
  drop(tags: Iterable<string>): void;
  dropAll(): void;
  readonly size: number;
}

interface Count {
  readonly pageCount: number;
  readonly learnedAt: number;
  readonly tags: readonly string[];
  /** The latest generation in which no tag had moved. */
  generation: number;
}

/** Creates an empty store. */
export function createPageCounts(
  options: Pick<PagingOptions, 'maxAgeSeconds' | 'maxEntries'>,
  clock: Clock,
): PageCounts {
  const counts = new LRUCache<string, Count>({ max: options.maxEntries });
  const generations = createTagGenerations();

  const usable = (count: Count) => {
    const ageMs = clock() - count.learnedAt;
    if (ageMs < 0 || ageMs >= options.maxAgeSeconds * 1000) return false;
    if (!generations.unmoved(count.tags, count.generation)) return false;
    count.generation = generations.now();
    return true;
  };

  return {
    learned(key) {
      const count = counts.get(key);
      if (count === undefined) return undefined;
      if (usable(count)) return count.pageCount;
      counts.delete(key);
      return undefined;
    },
    generation: () => generations.now(),
    learn(key, { pageCount, totalCount }, tags, generation) {
      if (!generations.unmoved(tags, generation)) return;
      if (!isCount(pageCount) || totalCount === 0) {
        counts.delete(key);
        return;
      }
      counts.set(key, { pageCount, learnedAt: clock(), tags: [...tags], generation });
    },
    drop: (tags) => generations.move(tags),
    dropAll() {
      generations.moveAll();
      counts.clear();
    },
    get size() {
      return counts.size;
    },
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

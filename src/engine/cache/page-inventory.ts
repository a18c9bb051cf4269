import { type StoredPage, operationOfKey } from './stored-page.ts';
import type { TagIndex } from './tags.ts';

/** The counts for a group of stored pages. Targets and callers are omitted because they may be personal data. */
interface StoredPages {
  readonly entries: number;
  readonly bytes: number;
  /** The age of the oldest page in seconds. */
  readonly oldestSeconds: number;
}

/** An overview of the cache, grouped by operation and by tag. */
export interface PageInventory extends Omit<StoredPages, 'oldestSeconds'> {
  readonly maxBytes: number;
  readonly operations: readonly (StoredPages & { readonly operation: string; readonly fresh: number })[];
  /** The matching tags with the most pages. The query determines how many tags are listed. */
  readonly tags: readonly (StoredPages & { readonly tag: string })[];
  /** The number of tags that contain the requested text. */
  readonly matchingTags: number;
}

/** Determines which tags an inventory lists. */
export interface InventoryQuery {
  /** Text that the listed tags must contain. */
  readonly text: string;
  readonly limit: number;
}

/** The data for an inventory: the pages with their keys, and an index that maps tags to keys. */
interface InventorySource {
  readonly pages: Iterable<readonly [key: string, entry: Entry]>;
  readonly peek: (key: string) => Entry | undefined;
  readonly index: TagIndex;
  readonly maxBytes: number;
}

interface Entry {
  readonly page: StoredPage;
  readonly bytes: number;
}

/** Counts the stored pages without changing the order in which pages are evicted. */
export function pageInventory(source: InventorySource, now: number, { text, limit }: InventoryQuery): PageInventory {
  const rows = [...Map.groupBy(source.pages, ([key]) => operationOfKey(key))].map(([operation, pages]) => {
    const entries = pages.map(([, entry]) => entry);
    const fresh = entries.filter(({ page }) => now < page.freshUntilAt).length;
    return Object.assign({ operation }, countsOf(entries, now), { fresh });
  });
  const matching = [...source.index.counts()].filter(([tag]) => tag.includes(text));
  const widest = matching.sort(([a, many], [b, few]) => few - many || a.localeCompare(b, 'en', { numeric: true }));
  const entriesOf = (tag: string) => source.index.keysOf(tag).flatMap((key) => source.peek(key) ?? []);
  return {
    entries: rows.reduce((sum, row) => sum + row.entries, 0),
    bytes: rows.reduce((sum, row) => sum + row.bytes, 0),
    maxBytes: source.maxBytes,
    operations: rows.sort((a, b) => b.bytes - a.bytes),
    tags: widest.slice(0, limit).map(([tag]) => Object.assign({ tag }, countsOf(entriesOf(tag), now))),
    matchingTags: matching.length,
  };
}

function countsOf(entries: readonly Entry[], now: number): StoredPages {
  const oldestAt = entries.reduce((oldest, { page }) => Math.min(oldest, page.storedAt), now);
  return {
    entries: entries.length,
    bytes: entries.reduce((sum, { bytes }) => sum + bytes, 0),
    oldestSeconds: Math.floor((now - oldestAt) / 1000),
  };
}

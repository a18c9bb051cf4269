import { operationOfKey, type StoredPage } from './stored-page.ts';
import type { TagIndex } from './tags.ts';

/** The counts for a group of stored pages. Targets and callers are not included, because they can be personal data. */
interface StoredPages {
  readonly entries: number;
  readonly bytes: number;
  /** The age of the oldest page in seconds. */
  readonly oldestSeconds: number;
}

/** An overview of the cache, by operation and by tag. */
export interface PageInventory extends Omit<StoredPages, 'oldestSeconds'> {
  readonly maxBytes: number;
  readonly operations: readonly (StoredPages & { readonly operation: string; readonly fresh: number })[];
  /** The tags with the most pages. The list contains at most `limit` tags. */
  readonly tags: readonly (StoredPages & { readonly tag: string })[];
  /** The number of tags that contain the requested text. */
  readonly matchingTags: number;
}

/** Selects the tags in an inventory. */
export interface InventoryQuery {
  /** A text that the listed tags must contain. */
  readonly text: string;
  readonly limit: number;
}

/** The data from which an inventory is created: the pages by key, and the keys by tag. */
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

/** Counts the stored pages without affecting their order of use. */
export function pageInventory(source: InventorySource, now: number, { text, limit }: InventoryQuery): PageInventory {
  const operations = new Map<string, { entries: number; bytes: number; oldestSeconds: number; fresh: number }>();
  for (const [key, { page, bytes }] of source.pages) {
    const operation = operationOfKey(key);
    const counts = operations.get(operation) ?? { entries: 0, bytes: 0, oldestSeconds: 0, fresh: 0 };
    operations.set(operation, counts);
    counts.entries += 1;
    counts.bytes += bytes;
    counts.fresh += now < page.freshUntilAt ? 1 : 0;
    counts.oldestSeconds = Math.max(counts.oldestSeconds, secondsSince(page, now));
  }
  const matching = [...source.index.counts()].filter(([tag]) => !tag.endsWith(':**') && tag.includes(text));
  const widest = matching.sort(([a, many], [b, few]) => few - many || a.localeCompare(b, 'en', { numeric: true }));
  const rows = [...operations].map(([operation, counts]) => Object.assign({ operation }, counts));
  return {
    entries: rows.reduce((sum, row) => sum + row.entries, 0),
    bytes: rows.reduce((sum, row) => sum + row.bytes, 0),
    maxBytes: source.maxBytes,
    operations: rows.sort((a, b) => b.bytes - a.bytes),
    tags: widest.slice(0, limit).map(([tag]) => Object.assign({ tag }, pagesWithTag(tag, source, now))),
    matchingTags: matching.length,
  };
}

function pagesWithTag(tag: string, { index, peek }: InventorySource, now: number): StoredPages {
  const entries = index
    .keysOf(tag)
    .map(peek)
    .filter((entry) => entry !== undefined);
  return {
    entries: entries.length,
    bytes: entries.reduce((sum, { bytes }) => sum + bytes, 0),
    oldestSeconds: entries.reduce((oldest, { page }) => Math.max(oldest, secondsSince(page, now)), 0),
  };
}

const secondsSince = (page: StoredPage, now: number) => Math.max(0, Math.floor((now - page.storedAt) / 1000));

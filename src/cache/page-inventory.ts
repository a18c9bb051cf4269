import { operationOfKey } from './cache-key.ts';
import type { StoredPage } from './stored-page.ts';
import type { TagIndex } from './tag-index.ts';

/** What is kept of a group of pages; neither targets nor callers, which may be personal. */
export interface KeptPages {
  readonly entries: number;
  readonly bytes: number;
  /** Seconds since the oldest of them was stored. */
  readonly oldestSeconds: number;
}

/** What the cache holds, by operation and by tag. */
export interface PageInventory extends Omit<KeptPages, 'oldestSeconds'> {
  readonly maxBytes: number;
  readonly operations: readonly (KeptPages & { readonly operation: string; readonly fresh: number })[];
  /** The tags that most pages carry, at most as many as were asked for. */
  readonly tags: readonly (KeptPages & { readonly tag: string })[];
  /** Tags that hold the text that was asked for. */
  readonly matchingTags: number;
}

/** What to tell of tags. */
export interface InventoryQuery {
  /** Only tags that hold this text. */
  readonly text: string;
  readonly limit: number;
}

/** What an inventory is made of: the pages by key, and which keys carry which tag. */
export interface InventoryStock {
  readonly pages: Iterable<readonly [key: string, held: Kept]>;
  readonly peek: (key: string) => Kept | undefined;
  readonly index: TagIndex;
  readonly maxBytes: number;
}

interface Kept {
  readonly page: StoredPage;
  readonly bytes: number;
}

/** Counts what is kept; the order of use stays as it is. */
export function pageInventory(stock: InventoryStock, now: number, { text, limit }: InventoryQuery): PageInventory {
  const operations = new Map<string, { entries: number; bytes: number; oldestSeconds: number; fresh: number }>();
  for (const [key, { page, bytes }] of stock.pages) {
    const operation = operationOfKey(key);
    const kept = operations.get(operation) ?? { entries: 0, bytes: 0, oldestSeconds: 0, fresh: 0 };
    operations.set(operation, kept);
    kept.entries += 1;
    kept.bytes += bytes;
    kept.fresh += now < page.freshUntilAt ? 1 : 0;
    kept.oldestSeconds = Math.max(kept.oldestSeconds, secondsSince(page, now));
  }
  const matching = [...stock.index.counts()].filter(([tag]) => !tag.endsWith(':**') && tag.includes(text));
  const widest = matching.sort(([a, many], [b, few]) => few - many || a.localeCompare(b, 'en', { numeric: true }));
  const rows = [...operations].map(([operation, kept]) => Object.assign({ operation }, kept));
  return {
    entries: rows.reduce((sum, row) => sum + row.entries, 0),
    bytes: rows.reduce((sum, row) => sum + row.bytes, 0),
    maxBytes: stock.maxBytes,
    operations: rows.sort((a, b) => b.bytes - a.bytes),
    tags: widest.slice(0, limit).map(([tag]) => Object.assign({ tag }, keptUnder(tag, stock, now))),
    matchingTags: matching.length,
  };
}

function keptUnder(tag: string, { index, peek }: InventoryStock, now: number): KeptPages {
  const held = index
    .keysOf(tag)
    .map(peek)
    .filter((kept) => kept !== undefined);
  return {
    entries: held.length,
    bytes: held.reduce((sum, { bytes }) => sum + bytes, 0),
    oldestSeconds: held.reduce((oldest, { page }) => Math.max(oldest, secondsSince(page, now)), 0),
  };
}

const secondsSince = (page: StoredPage, now: number) => Math.max(0, Math.floor((now - page.storedAt) / 1000));

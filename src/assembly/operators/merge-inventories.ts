import type { InventoryQuery, PageInventory } from '../../cache/page-inventory.ts';

/** Combines the inventories of several caches. */
export function mergeInventories(all: readonly PageInventory[], { limit }: InventoryQuery): PageInventory {
  const sum = (of: (one: PageInventory) => number) => all.reduce((total, one) => total + of(one), 0);
  const operations = Map.groupBy(
    all.flatMap((one) => one.operations),
    ({ operation }) => operation,
  );
  const tags = Map.groupBy(
    all.flatMap((one) => one.tags),
    ({ tag }) => tag,
  );
  return {
    entries: sum(({ entries }) => entries),
    bytes: sum(({ bytes }) => bytes),
    maxBytes: sum(({ maxBytes }) => maxBytes),
    operations: [...operations]
      .map(([operation, rows]) =>
        Object.assign({ operation, fresh: rows.reduce((count, { fresh }) => count + fresh, 0) }, sumOfRows(rows)),
      )
      .toSorted((one, other) => other.bytes - one.bytes),
    tags: [...tags]
      .map(([tag, rows]) => Object.assign({ tag }, sumOfRows(rows)))
      .toSorted((one, other) => other.entries - one.entries)
      .slice(0, limit),
    matchingTags: Math.max(0, ...all.map(({ matchingTags }) => matchingTags)),
  };
}

function sumOfRows(
  rows: readonly { readonly entries: number; readonly bytes: number; readonly oldestSeconds: number }[],
) {
  return {
    entries: rows.reduce((total, row) => total + row.entries, 0),
    bytes: rows.reduce((total, row) => total + row.bytes, 0),
    oldestSeconds: Math.max(...rows.map((row) => row.oldestSeconds)),
  };
}

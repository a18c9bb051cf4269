import { isDeepStrictEqual } from 'node:util';

/**
 * Merges lists whose items have keys. If only one side changed an item, the changed value is used. If both sides
 * changed it, `prefer` chooses the value. Undefined represents a removed item.
 */
export function mergeItems<Item>(
  lists: { readonly base: readonly Item[]; readonly mine: readonly Item[]; readonly theirs: readonly Item[] },
  keyOf: (item: Item) => string,
  prefer: (mine: Item | undefined, theirs: Item | undefined) => Item | undefined,
): Item[] {
  const byKey = (items: readonly Item[]) => new Map(items.map((item) => [keyOf(item), item]));
  const [base, mine, theirs] = [byKey(lists.base), byKey(lists.mine), byKey(lists.theirs)];
  const merged = new Map(theirs);
  for (const key of new Set([...base.keys(), ...mine.keys()])) {
    const [before, here, there] = [base.get(key), mine.get(key), theirs.get(key)];
    if (isDeepStrictEqual(here, before)) continue;
    const chosen = isDeepStrictEqual(there, before) ? here : prefer(here, there);
    if (chosen === undefined) merged.delete(key);
    else merged.set(key, chosen);
  }
  return [...merged.values()];
}

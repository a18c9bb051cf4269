import type { EntryFacts } from './ledger-batch.ts';

interface Kind {
  readonly facts: Pick<EntryFacts, 'operation' | 'keyword'>;
}

/**
 * Fingerprints of the entries to forget so that no more than `share` stay, the entries given with the most recently seen
 * last. An entry's place among its like (operation and rule) decides, then its age: of what there is much, much is taken.
 */
export function tooMany(entries: ReadonlyMap<string, Kind>, share: number): readonly string[] {
  if (entries.size <= share) return [];
  const sizes = new Map<string, number>();
  const placed = [...entries].reverse().map(([fingerprint, { facts }], age) => {
    const like = `${facts.operation ?? ''} ${facts.keyword}`;
    const place = (sizes.get(like) ?? 0) + 1;
    sizes.set(like, place);
    return { fingerprint, place, age };
  });
  placed.sort((a, b) => b.place - a.place || b.age - a.age);
  return placed.slice(0, entries.size - share).map(({ fingerprint }) => fingerprint);
}

import { discoverIds } from './discover-ids.ts';

/** The ids that a walk knows, by the path parameter that they fit. */
export interface KnownIds {
  /** Takes in what an answer shows; true when something new was in it. */
  learn(text: string): boolean;
  /** The ids of a kind, given ones first. */
  of(kind: string): readonly string[];
}

/** How many ids of one kind are remembered. */
const MAX_IDS = 200;

const FIRST = ' first';

/** Starts with the ids that were given on the command line. */
export function createKnownIds(given: ReadonlyMap<string, readonly string[]>): KnownIds {
  const preferred = new Map<string, Set<string>>();
  const others = new Map<string, Set<string>>();
  for (const [kind, ids] of given) add(preferred, kind, ids);
  return {
    learn: (text) =>
      [...discoverIds(text)]
        .map(([kind, ids]) =>
          kind.endsWith(FIRST) ? add(preferred, kind.slice(0, -FIRST.length), ids) : add(others, kind, ids),
        )
        .some(Boolean),
    of: (kind) => [...new Set([...(preferred.get(kind) ?? []), ...(others.get(kind) ?? [])])],
  };
}

/** True when one of them was not known before. */
function add(to: Map<string, Set<string>>, kind: string, ids: readonly string[]): boolean {
  const known = to.get(kind) ?? new Set<string>();
  const before = known.size;
  for (const id of ids) if (known.size < MAX_IDS) known.add(id);
  to.set(kind, known);
  return known.size > before;
}

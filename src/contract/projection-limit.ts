import type { ItemsAt } from '../model/operation.ts';
import { anyIndex } from '../lib/json-pointer.ts';
import { plainName } from '../privacy/client-text.ts';
import { itemsOf, toObject } from './items-of.ts';

/** What `includeOnly` lets appear: a whole field, or only some fields inside it. */
type Limit = ReadonlyMap<string, Limit | 'whole'>;

/** Deeper paths name nothing: no body that is judged is nested as deeply. */
const MAX_SEGMENTS = 64;

/** The most members of items that are compared with what was asked for; an item of a list has about 50. */
const MAX_EXAMINED = 20_000;

/**
 * Pointers to the fields of items that `includeOnly` did not ask for. A field that many items have is reported once, for
 * the first of them; at most `max` are reported.
 */
export function fieldsBeyond(includeOnly: readonly string[], itemsAt: ItemsAt, json: unknown, max: number): string[] {
  if (includeOnly.length === 0) return [];
  const limit = toLimit(includeOnly);
  const search: Search = { found: new Map(), max, examined: 0 };
  for (const item of itemsOf(itemsAt, json)) {
    collect(search, item.value, limit, item.at);
    if (isOver(search)) break;
  }
  return [...search.found.values()];
}

type Building = Map<string, Building | 'whole'>;

/** Grows with the number of segments and without recursion: a client chooses both how many paths and how long they are. */
function toLimit(paths: readonly string[]): Limit {
  const limit: Building = new Map();
  for (const path of paths) {
    const segments = path.split('.', MAX_SEGMENTS);
    const last = segments.pop() ?? '';
    let here: Building | 'whole' | undefined = limit;
    for (const segment of segments) {
      const below: Building | 'whole' = here.get(segment) ?? new Map<string, Building | 'whole'>();
      here.set(segment, below);
      here = below === 'whole' ? undefined : below;
      if (here === undefined) break;
    }
    here?.set(last, 'whole');
  }
  return limit;
}

interface Search {
  /** By place with indices left out. */
  readonly found: Map<string, string>;
  readonly max: number;
  /** Members that were looked at. */
  examined: number;
}

const isOver = ({ found, max, examined }: Search) => found.size >= max || examined >= MAX_EXAMINED;

function collect(search: Search, value: unknown, limit: Limit, at: string): void {
  const { found } = search;
  const members = toObject(value) ?? {};
  for (const name of Object.keys(members)) {
    if (isOver(search)) return;
    search.examined += 1;
    const inner = limit.get(name);
    if (inner === 'whole') continue;
    const pointer = `${at}/${plainName(name)}`;
    const child = members[name];
    if (inner === undefined) {
      const place = anyIndex(pointer);
      if (!found.has(place)) found.set(place, pointer);
    } else if (!Array.isArray(child)) collect(search, child, inner, pointer);
    else
      for (const [index, element] of child.entries()) {
        if (isOver(search)) return;
        collect(search, element, inner, `${pointer}/${index}`);
      }
  }
}

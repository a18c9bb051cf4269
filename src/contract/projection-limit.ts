import type { ItemsAt } from '../model/operation.ts';
import { anyIndex } from '../lib/json-pointer.ts';
import { plainName } from '../privacy/client-text.ts';
import { itemsOf, toObject } from './items-of.ts';

/** What `includeOnly` lets appear: a whole field, or only some fields inside it. */
type Limit = ReadonlyMap<string, Limit | 'whole'>;

/**
 * Pointers to the fields of items that `includeOnly` did not ask for. One that many items have is told once, for the first
 * of them; at most `max` are told.
 */
export function fieldsBeyond(includeOnly: readonly string[], itemsAt: ItemsAt, json: unknown, max: number): string[] {
  if (includeOnly.length === 0) return [];
  const limit = toLimit(includeOnly.map((path) => path.split('.')));
  const found = new Map<string, string>();
  for (const item of itemsOf(itemsAt, json)) {
    collect(item.value, limit, item.at, found, max);
    if (found.size >= max) break;
  }
  return [...found.values()];
}

function toLimit(paths: readonly (readonly string[])[]): Limit {
  const byHead = Map.groupBy(paths, (path) => path[0] ?? '');
  return new Map(
    [...byHead].map(([head, group]) => {
      const whole = group.some((path) => path.length === 1);
      return [head, whole ? 'whole' : toLimit(group.map((path) => path.slice(1)))];
    }),
  );
}

function collect(value: unknown, limit: Limit, at: string, found: Map<string, string>, max: number): void {
  for (const [name, child] of Object.entries(toObject(value) ?? {})) {
    if (found.size >= max) return;
    const pointer = `${at}/${plainName(name)}`;
    const inner = limit.get(name);
    if (inner === undefined) {
      const place = anyIndex(pointer);
      if (!found.has(place)) found.set(place, pointer);
    } else if (inner === 'whole') continue;
    else if (!Array.isArray(child)) collect(child, inner, pointer, found, max);
    else child.forEach((element, index) => collect(element, inner, `${pointer}/${index}`, found, max));
  }
}

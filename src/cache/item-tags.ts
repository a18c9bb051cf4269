import type { ItemsAt } from '../model/operation.ts';
import { tagOf, wildcardOf } from './tags-of.ts';

/** The most items of one page that get tags of their own. */
const MAX_ITEMS = 1000;

/**
 * Tags of the items that a page shows (`node:5`), so that a write to one of them purges the page. A page with an item
 * of unknown id, or with too many items, gets the wildcard of the kind, which every purge of that kind meets.
 */
export function itemTags(json: unknown, itemsAt: ItemsAt, kind = 'node'): string[] {
  const items = itemsOf(json, itemsAt);
  if (items === undefined || items.length > MAX_ITEMS) return [wildcardOf(kind)];
  const tags = new Set<string>();
  for (const item of items) {
    const id = member(itemsAt === 'actions' ? member(item, 'node') : item, 'id');
    tags.add(typeof id === 'number' || typeof id === 'string' ? tagOf(kind, id) : wildcardOf(kind));
  }
  return [...tags];
}

function itemsOf(json: unknown, itemsAt: ItemsAt): readonly unknown[] | undefined {
  if (itemsAt === 'body') return [json];
  const items = itemsAt === 'elements' ? json : member(json, itemsAt);
  return Array.isArray(items) ? (items as readonly unknown[]) : undefined;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

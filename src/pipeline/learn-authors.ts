import type { ItemsAt, Operation } from '../model/operation.ts';
import { valueAt } from './look-up.ts';

/** Notes who wrote a node. */
export type LearnAuthor = (nodeId: string, authorName: string) => void;

/** Learns from a valid answer who wrote the nodes that it shows (rules, 3). */
export function learnAuthors(operation: Operation, json: unknown, learn: LearnAuthor): void {
  for (const item of itemsOf(json, operation.itemsAt)) {
    // Users and topics have ids from other pools; a revision is what only nodes have.
    if (valueAt(item, '/activeRevisionId') === undefined) continue;
    const id = valueAt(item, '/id');
    const name = valueAt(item, '/author/username');
    const exact = typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
    if (exact && typeof name === 'string') learn(String(id), name);
  }
}

function itemsOf(json: unknown, itemsAt: ItemsAt): readonly unknown[] {
  if (itemsAt === 'body') return [json];
  const items = itemsAt === 'elements' ? json : valueAt(json, `/${itemsAt}`);
  return Array.isArray(items) ? (items as unknown[]) : [];
}

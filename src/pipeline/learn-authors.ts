import { itemsOf } from '../contract/items-of.ts';
import type { Operation } from '../model/operation.ts';
import { valueAt } from '../lib/value-at.ts';

/** Notes who wrote a node. */
export type LearnAuthor = (nodeId: string, authorName: string) => void;

/** Learns from a valid answer who wrote the nodes that it shows (rules, 3). */
export function learnAuthors(operation: Operation, json: unknown, learn: LearnAuthor): void {
  for (const { value: item } of itemsOf(operation.itemsAt, json)) {
    // Users and topics are shown too, and their authors decide nothing; a revision is what only nodes have.
    if (valueAt(item, '/activeRevisionId') === undefined) continue;
    const id = valueAt(item, '/id');
    const name = valueAt(item, '/author/username');
    const exact = typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
    if (exact && typeof name === 'string') learn(String(id), name);
  }
}

import { itemValues, toObject } from '../contract/items.ts';
import type { Operation } from '../model/operation.ts';

/** Who wrote which node. */
export type Authorship = readonly [nodeId: string, authorName: string];

/** Notes who wrote a node. */
export type LearnAuthor = (nodeId: string, authorName: string) => void;

/** Reads from a valid answer who wrote the nodes that it shows (rules, 3). */
export function authorsOf({ itemsAt }: Pick<Operation, 'itemsAt'>, json: unknown): readonly Authorship[] {
  const authors: Authorship[] = [];
  for (const value of itemValues(itemsAt, json)) {
    const item = toObject(value);
    // Users and topics are shown too, and their authors decide nothing; a revision is what only nodes have.
    if (item?.['activeRevisionId'] === undefined) continue;
    const { id, author } = item as { readonly id?: unknown; readonly author?: unknown };
    const name = typeof author === 'object' && author !== null && 'username' in author ? author.username : undefined;
    const exact = typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
    if (exact && typeof name === 'string') authors.push([String(id), name]);
  }
  return authors;
}

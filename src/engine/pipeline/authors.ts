import type { Authorship } from '../contract/api-profile.ts';
import { itemValues, toObject } from '../contract/values.ts';
import type { PlannedOperation } from './stage.ts';

/** Returns the authors of the items in a valid response (docs/rules.md §3). */
export function authorsOf(
  { operation, items }: Pick<PlannedOperation, 'operation' | 'items'>,
  json: unknown,
): readonly Authorship[] {
  const authors: Authorship[] = [];
  for (const value of itemValues(operation.itemsAt, json)) {
    const item = toObject(value);
    const authorship = item && items.authorOf(item);
    if (authorship !== undefined) authors.push(authorship);
  }
  return authors;
}

import { itemTags } from '../cache/tags.ts';
import type { ItemsAt } from '../model/operation.ts';
import { isServerError } from '../model/server-errors.ts';
import type { BodyFacts } from './reply.ts';
import type { PlannedOperation } from './stage.ts';

/** Returns the facts about a body that stages need. `json` is undefined if the body is not JSON. */
export function bodyFactsOf(
  { operation, cache, items }: Pick<PlannedOperation, 'operation' | 'cache' | 'items'>,
  json: unknown,
): BodyFacts {
  const { itemsAt, serverErrors } = operation;
  const hasTopLevelError = isServerError(serverErrors, json);
  return {
    isJson: json !== undefined,
    isOuterForm: isOuterForm(json, itemsAt),
    hasTopLevelError,
    // An error response does not describe a list, even if it has the same fields.
    pageCount: hasTopLevelError ? undefined : pageCountOf(json),
    tags: cache === undefined ? [] : itemTags(json, itemsAt, items),
  };
}

function isOuterForm(json: unknown, itemsAt: ItemsAt): boolean {
  if (itemsAt === 'elements') return Array.isArray(json);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return false;
  return itemsAt === 'body' || Array.isArray((json as Record<string, unknown>)[itemsAt]);
}

/**
 * Returns the page count in a body. Returns undefined for an empty list, because page bounds do not apply to empty
 * lists.
 */
function pageCountOf(json: unknown): number | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const { pageCount, totalCount } = json as Record<string, unknown>;
  if (totalCount === 0 || typeof pageCount !== 'number' || !Number.isSafeInteger(pageCount)) return undefined;
  return pageCount;
}

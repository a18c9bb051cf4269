import type { Readable } from 'node:stream';
import type { Validity } from '../cache/may-store.ts';
import { itemTags } from '../cache/tags.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { ItemsAt } from '../model/operation.ts';
import type { PlannedOperation } from './planned-operation.ts';

/** Facts that response validation and paging found in a response, for the outer stages. */
export interface ResponseFacts {
  readonly validity: Validity;
  readonly body: BodyFacts;
}

/** The reply of a handler. The edge writes it to a connection. */
export interface Reply {
  readonly status: number;
  /** The upstream's reason phrase, if it is passed on. Otherwise, the standard phrase is written. */
  readonly reason?: string;
  readonly headers: HeaderPairs;
  readonly body: Buffer | Readable;
  /** A strong entity tag, if conditional requests are supported. */
  readonly etag?: string;
  readonly facts?: ResponseFacts;
  /** The page count in the response. Undefined if the response has none or the page bound is waived. */
  readonly pageCount?: number | undefined;
  /** The key of the stored page, if the reply comes from the cache. */
  readonly storedAs?: string;
  /** True if the reply comes from another caller's exchange. */
  readonly shared?: boolean;
}

/** Facts about a parsed body, for the stages that do not receive the body itself. */
export interface BodyFacts {
  /** False if the body is not JSON or was not parsed. */
  readonly isJson: boolean;
  /** True if the body has its items in the expected place. */
  readonly isOuterForm: boolean;
  readonly hasTopLevelError: boolean;
  /** The page count that bounds pages. Undefined if the body has none or the bound is waived (rules, 5). */
  readonly pageCount: number | undefined;
  /** Tags of the items, if pages of the operation are cached. */
  readonly tags: readonly string[];
}

/** Returns the facts that stages need from a parsed body. `json` is undefined if the body is not JSON. */
export function bodyFactsOf(
  { operation, cache }: Pick<PlannedOperation, 'operation' | 'cache'>,
  json: unknown,
): BodyFacts {
  const { itemsAt } = operation;
  return {
    isJson: json !== undefined,
    isOuterForm: isOuterForm(json, itemsAt),
    hasTopLevelError: typeof json === 'object' && json !== null && ('error' in json || 'errors' in json),
    pageCount: pageCountOf(json),
    tags: cache === undefined ? [] : itemTags(json, itemsAt),
  };
}

function isOuterForm(json: unknown, itemsAt: ItemsAt): boolean {
  if (itemsAt === 'elements') return Array.isArray(json);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return false;
  return itemsAt === 'body' || Array.isArray((json as Record<string, unknown>)[itemsAt]);
}

/** Returns undefined if there are no results, because the bound is then waived. */
function pageCountOf(json: unknown): number | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  // An error does not describe a list, whatever other fields it has.
  if ('error' in json || 'errors' in json) return undefined;
  const { pageCount, totalCount } = json as Record<string, unknown>;
  if (totalCount === 0 || typeof pageCount !== 'number' || !Number.isSafeInteger(pageCount)) return undefined;
  return pageCount;
}

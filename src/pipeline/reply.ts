import type { Readable } from 'node:stream';
import type { Validity } from '../cache/may-store.ts';
import { itemTags } from '../cache/tags.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import type { ItemsAt } from '../model/operation.ts';
import type { PlannedOperation } from './planned-operation.ts';

/** What response validation and paging learned of an answer, for the stages outside of it. */
export interface ResponseFacts {
  readonly validity: Validity;
  readonly body: BodyFacts;
}

/** What a handler answers with; the edge turns it into bytes on a connection. */
export interface Reply {
  readonly status: number;
  /** The upstream's reason phrase, where it is passed on; else the usual one is written. */
  readonly reason?: string;
  readonly headers: HeaderPairs;
  readonly body: Buffer | Readable;
  /** A strong entity tag, where conditional requests are answered. */
  readonly etag?: string;
  readonly facts?: ResponseFacts;
  /** The page count that the answer names; undefined when it names none or the page bound is waived. */
  readonly pageCount?: number | undefined;
  /** The key of the kept page that it is, when it comes from memory. */
  readonly storedAs?: string;
  /** True when another caller's exchange made this reply. */
  readonly shared?: boolean;
}

/** What a parsed body shows, for the stages that do not get the body itself. */
export interface BodyFacts {
  /** False when the body was no JSON or was not parsed. */
  readonly isJson: boolean;
  /** True when items are where the operation keeps them. */
  readonly isOuterForm: boolean;
  readonly hasTopLevelError: boolean;
  /** The page count that bounds pages; undefined where the body names none or the bound is waived (rules, 5). */
  readonly pageCount: number | undefined;
  /** Tags of the items, where pages of the operation are kept. */
  readonly tags: readonly string[];
}

/** Reads what stages need of a parsed body; `json` is undefined for a body that is no JSON. */
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

/** None where nothing was found, since then the bound is waived. */
function pageCountOf(json: unknown): number | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  // What an error says beside itself describes no list.
  if ('error' in json || 'errors' in json) return undefined;
  const { pageCount, totalCount } = json as Record<string, unknown>;
  if (totalCount === 0 || typeof pageCount !== 'number' || !Number.isSafeInteger(pageCount)) return undefined;
  return pageCount;
}

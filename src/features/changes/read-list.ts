import type { FeatureContext } from '../../engine/feature.ts';
import { itemValues } from '../../engine/contract/values.ts';
import { contentType, headerValue } from '../../engine/model/header-pairs.ts';
import type { Paging } from '../../engine/model/operation.ts';
import { UpstreamFailure } from '../../engine/model/upstream-failure.ts';
import type { DecodedResponse } from '../../engine/upstream/response-body.ts';
import { exceededLimit, type JsonLimits } from '../../lib/bounded-json.ts';
import type { Clock } from '../../lib/clock.ts';
import { parseExact } from '../../lib/exact-json.ts';
import { membersOf, type PlainObject } from '../../lib/plain-object.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import { type FollowedList, pageTarget, readItems } from './followed-list.ts';
import type { ReadItem } from './list-state.ts';

/** A page of a list, or why there is none. */
export type PageResult =
  | { readonly kind: 'page'; readonly items: readonly ReadItem[]; readonly isLast: boolean }
  /** The response violates the contract, so nothing in it counts. */
  | { readonly kind: 'invalid'; readonly reason: string }
  /** The server fails. `isBusy` means that it does not want to be asked now, or cannot be reached at all. */
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly isBusy: boolean;
      readonly retryAfterMs: number | undefined;
    }
  /** The account may not read the list. */
  | { readonly kind: 'refused'; readonly status: number }
  /** The request was not sent, because clients need the upstream more. */
  | { readonly kind: 'busy' };

/** What reading a page needs. */
export interface ReadPageParts extends Pick<FeatureContext<unknown>, 'ask' | 'contract' | 'isAccepted' | 'kindOf'> {
  readonly authorization: string;
  readonly pageSize: number;
  readonly jsonLimits: JsonLimits;
  readonly clock: Clock;
  /** Returns what subscribers receive of an item of the list. */
  readonly shownItem: (list: FollowedList) => (item: PlainObject) => unknown;
}

/** Reads a page of a list, counted from 0, and checks it against the contract. Rejects if the signal is aborted. */
export async function readPage(
  list: FollowedList,
  page: number,
  parts: ReadPageParts,
  signal: AbortSignal,
): Promise<PageResult> {
  const { ask, authorization, pageSize, clock } = parts;
  const target = pageTarget(list, page, pageSize);
  try {
    const response = await ask(target, { authorization, signal });
    if (response === undefined) return { kind: 'busy' };
    const { status } = response;
    if (status === 401 || status === 403) return { kind: 'refused', status };
    if (status === 429 || status >= 500) {
      const waitMs = retryAfterMs(headerValue(response.headers, 'retry-after'), clock());
      const isBusy = status === 429 || status === 503 || waitMs !== undefined;
      return { kind: 'failed', reason: `status ${status}`, isBusy, retryAfterMs: waitMs };
    }
    return toPage(list, target, response, parts);
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || signal.aborted) throw error;
    return { kind: 'failed', reason: error.kind, isBusy: error.kind !== 'too_large', retryAfterMs: undefined };
  }
}

function toPage(
  list: FollowedList,
  target: string,
  { status, headers, body, codingFault }: DecodedResponse,
  { contract, isAccepted, kindOf, jsonLimits, shownItem, pageSize }: ReadPageParts,
): PageResult {
  const { operation } = list;
  if (codingFault !== undefined) return { kind: 'invalid', reason: `coding ${codingFault}` };
  if (status !== 200) return { kind: 'invalid', reason: `status ${status}` };
  const excess = exceededLimit(body, jsonLimits);
  if (excess !== undefined) return { kind: 'invalid', reason: `too many ${excess}` };
  const [path = '', query] = target.split('?', 2);
  const match = contract.match(path);
  if (match === undefined) return { kind: 'invalid', reason: 'not in the contract' };
  const json = parsed(body);
  const { values } = contract.decodeParameters(operation, match, query);
  const plain = plainOf(body);
  const response = { status, mediaType: contentType(headers), isEmpty: body.length === 0, json: plain, bytes: body };
  const { verdict, violations } = contract.checkResponse(operation, values, response);
  const broken = violations.find((violation) => {
    const kind = kindOf(operation.id, status, violation);
    return !isAccepted({ fingerprint: kind.fingerprint, check: violation.check, status: kind.status });
  });
  if (verdict === 'skipped' || broken !== undefined)
    return { kind: 'invalid', reason: broken === undefined ? 'unchecked' : `${broken.at || 'body'} ${broken.keyword}` };
  const elements = itemValues(operation.itemsAt, json);
  return {
    kind: 'page',
    items: readItems(list, elements, shownItem(list)),
    isLast: elements.length === 0 || isLastPage(operation.paging, plain, elements.length, pageSize),
  };
}

/** Returns whether a page says that it is the last one. A short page may only mean that the server limits the size. */
function isLastPage(paging: Paging | undefined, json: unknown, length: number, pageSize: number): boolean {
  if (paging?.hasPageCount !== true) return false;
  const { page, pageCount } = membersOf(json);
  if (typeof page !== 'number' || typeof pageCount !== 'number') return length < pageSize;
  return page - paging.firstPage + 1 >= pageCount;
}

/** Parses a body so that long numbers keep their digits. Undefined if it is not JSON. */
function parsed(body: Buffer): unknown {
  try {
    return parseExact(body);
  } catch {
    return undefined;
  }
}

function plainOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

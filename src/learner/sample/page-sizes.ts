import { emptyPageSizes, type Observations, type PageSizes } from '../observations/observations.ts';
import type { SampledResponse } from './sample-body.ts';

/** The maximum number of stored sizes per operation. */
const MAX_SIZES = 8;

/** The statuses that servers use to refuse a page size. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 416, 422]);

/** Returns whether servers use this status to refuse a page size. */
export function isSizeRefusal(status: number): boolean {
  return REFUSALS.has(status);
}

/**
 * Compares the requested and the returned page sizes. A refusal, or a page with fewer items than its reported size,
 * counts as evidence only if the request was for the first page.
 */
export function samplePageSize({ pages }: Observations, response: SampledResponse, now: number): void {
  const { operation, status, json, page = 0, pageSize: requested } = response;
  const refused = isSizeRefusal(status) && requested !== undefined && page <= 1;
  const sizes = status < 300 ? sizesOf(json) : undefined;
  if (!refused && sizes === undefined) return;
  const place = pages.get(operation) ?? emptyPageSizes(now);
  pages.set(operation, place);
  place.lastSeenAt = now;
  if (refused) addRefusal(place, requested);
  if (sizes === undefined) return;
  if (requested === undefined) count(place.unasked, sizes.stated);
  else addRequested(place, requested, sizes, page <= 1);
}

/** Records that a page size was refused, unless a page size at least as large has already been accepted. */
function addRefusal(place: PageSizes, requested: number): void {
  if (requested <= place.accepted) return;
  place.refused = Math.min(place.refused || requested, requested);
  place.refusedAnswers += 1;
}

interface Sizes {
  /** The page size reported in the response body. */
  readonly stated: number;
  readonly items: number;
  readonly total: number | undefined;
}

function sizesOf(json: unknown): Sizes | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const { pageSize: stated, list, totalCount } = json as { pageSize?: unknown; list?: unknown; totalCount?: unknown };
  if (typeof stated !== 'number' || !Number.isInteger(stated) || stated < 1 || !Array.isArray(list)) return undefined;
  return { stated, items: list.length, total: typeof totalCount === 'number' ? totalCount : undefined };
}

function addRequested(place: PageSizes, requested: number, { stated, items, total }: Sizes, first: boolean): void {
  const wholeList = first && total !== undefined && total <= items;
  if (stated === requested && (items === requested || wholeList)) place.accepted = Math.max(place.accepted, requested);
  if (place.refused <= place.accepted) place.refused = place.refusedAnswers = 0;
  if (stated === requested && items === requested) {
    place.honoured = Math.max(place.honoured, requested);
    place.honouredAnswers += 1;
  } else if (items < requested && stated < requested && items === stated) count(place.clamped, stated);
  // A server that silently truncates a page still reports the requested size.
  else if (first && stated === requested && items > 0 && items < requested && total !== undefined && total > items)
    count(place.clamped, items);
}

function count(sizes: Map<number, number>, size: number): void {
  if (sizes.has(size) || sizes.size < MAX_SIZES) sizes.set(size, (sizes.get(size) ?? 0) + 1);
}

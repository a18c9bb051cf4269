import type { Observations, PageSizes } from '../observations/observations.ts';

/** Sizes of one operation that are remembered. */
const MAX_SIZES = 8;

/** Compares the page size that was asked for with the one that came; only full pages tell anything. */
export function observePageSize(
  { pages }: Observations,
  operation: string,
  asked: number | undefined,
  json: unknown,
  now: number,
): void {
  if (typeof json !== 'object' || json === null) return;
  const { pageSize, list } = json as { pageSize?: unknown; list?: unknown };
  if (typeof pageSize !== 'number' || !Number.isInteger(pageSize) || pageSize < 1 || !Array.isArray(list)) return;
  const place = pages.get(operation) ?? emptyPageSizes(now);
  pages.set(operation, place);
  place.lastSeenAt = now;
  if (asked === undefined) count(place.unasked, pageSize);
  else if (pageSize === asked && list.length === asked) {
    place.honoured = Math.max(place.honoured, asked);
    place.honouredAnswers += 1;
  } else if (list.length < asked && pageSize < asked && list.length === pageSize) count(place.clamped, pageSize);
}

/** Page sizes of which nothing was seen yet. */
export function emptyPageSizes(now: number): PageSizes {
  return { honoured: 0, honouredAnswers: 0, clamped: new Map(), unasked: new Map(), firstSeenAt: now, lastSeenAt: now };
}

function count(sizes: Map<number, number>, size: number): void {
  if (sizes.has(size) || sizes.size < MAX_SIZES) sizes.set(size, (sizes.get(size) ?? 0) + 1);
}

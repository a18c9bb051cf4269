import type { Observations, PageSizes } from '../observations/observations.ts';
import type { ObservedAnswer } from './sampled-response.ts';

/** Sizes of one operation that are remembered. */
const MAX_SIZES = 8;

/** Statuses with which servers refuse a size that is too large. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 416, 422]);

/** True for a status that can mean that a page size is too large. */
export function isRefusal(status: number): boolean {
  return REFUSALS.has(status);
}

/** Compares the page size that was asked for with the one that came; only full pages, first pages and refusals tell anything. */
export function observePageSize({ pages }: Observations, seen: ObservedAnswer, now: number): void {
  const { operation, status, json, page = 0, pageSize: asked } = seen;
  const refused = isRefusal(status) && asked !== undefined && page <= 1;
  const sizes = status < 300 ? sizesOf(json) : undefined;
  if (!refused && sizes === undefined) return;
  const place = pages.get(operation) ?? emptyPageSizes(now);
  pages.set(operation, place);
  place.lastSeenAt = now;
  if (refused) observeRefused(place, asked);
  if (sizes === undefined) return;
  if (asked === undefined) count(place.unasked, sizes.told);
  else observeAsked(place, asked, sizes, page <= 1);
}

/** Servers refuse for other reasons too: what is not larger than a size that was accepted says nothing about sizes. */
function observeRefused(place: PageSizes, asked: number): void {
  if (asked <= place.accepted) return;
  place.refused = Math.min(place.refused || asked, asked);
  place.refusedAnswers += 1;
}

interface Sizes {
  /** What the page says its size is. */
  readonly told: number;
  readonly items: number;
  readonly total: number | undefined;
}

function sizesOf(json: unknown): Sizes | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const { pageSize: told, list, totalCount } = json as { pageSize?: unknown; list?: unknown; totalCount?: unknown };
  if (typeof told !== 'number' || !Number.isInteger(told) || told < 1 || !Array.isArray(list)) return undefined;
  return { told, items: list.length, total: typeof totalCount === 'number' ? totalCount : undefined };
}

function observeAsked(place: PageSizes, asked: number, { told, items, total }: Sizes, first: boolean): void {
  const whole = first && total !== undefined && total <= items;
  if (told === asked && (items === asked || whole)) place.accepted = Math.max(place.accepted, asked);
  if (place.refused <= place.accepted) place.refused = place.refusedAnswers = 0;
  if (told === asked && items === asked) {
    place.honoured = Math.max(place.honoured, asked);
    place.honouredAnswers += 1;
  } else if (items < asked && told < asked && items === told) count(place.clamped, told);
  // A server that cuts pages off without saying so names the size that it was asked for.
  else if (first && told === asked && items > 0 && items < asked && total !== undefined && total > items)
    count(place.clamped, items);
}

/** Page sizes of which nothing was seen yet. */
export function emptyPageSizes(now: number): PageSizes {
  const counts = { honoured: 0, honouredAnswers: 0, accepted: 0, refused: 0, refusedAnswers: 0 };
  return { ...counts, clamped: new Map(), unasked: new Map(), firstSeenAt: now, lastSeenAt: now };
}

function count(sizes: Map<number, number>, size: number): void {
  if (sizes.has(size) || sizes.size < MAX_SIZES) sizes.set(size, (sizes.get(size) ?? 0) + 1);
}

import type { ErrorDetail } from '../errors/gateway-error.ts';
import type { Paging } from '../model/operation.ts';
import type { PagingOptions } from './paging-options.ts';

/** The page that a request asks for; undefined where the parameter is absent. */
export interface AskedPage {
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
}

/** The page that will be asked of the upstream; the size stays undefined where the upstream's default is wanted. */
export interface EffectivePage {
  readonly page: number;
  readonly pageSize: number | undefined;
}

/** A page within its bounds, or why it is refused. */
export type BoundPage =
  { readonly ok: true; readonly effective: EffectivePage } | ({ readonly ok: false } & PageRefusal);

/**
 * Bounds a page before the upstream is asked (rules, 5). Memory may be behind by a page: only what lies beyond the
 * learned count plus one is refused from it, which is never the first page. The count is compared with the number of
 * the page in lists that begin at 0 too: there the last page is one less, and asking for one more is left to the
 * upstream.
 */
export function boundPage(
  asked: AskedPage & {
    readonly paging: Paging;
    readonly learnedCount: number | undefined;
    readonly options: Pick<PagingOptions, 'maxPageSize'>;
  },
): BoundPage {
  const { paging, pageSize, learnedCount, options } = asked;
  const page = asked.page ?? paging.firstPage;
  if (!isInteger(page, 0)) return refused(pageRefusal('page', 'page must be an integer that is not negative'));
  if (pageSize !== undefined && !isInteger(pageSize, 1)) {
    return refused(pageRefusal('pageSize', `pageSize must be an integer from 1 to ${options.maxPageSize}`));
  }
  if (pageSize !== undefined && pageSize > options.maxPageSize) {
    const message = `pageSize ${pageSize} was asked for, but at most ${options.maxPageSize} is allowed`;
    return refused(pageRefusal('pageSize', message));
  }
  if (paging.hasPageCount && learnedCount !== undefined && page > learnedCount + 1) {
    return refused(beyondLastPage(page, learnedCount));
  }
  return { ok: true, effective: { page, pageSize } };
}

function refused(refusal: PageRefusal): BoundPage {
  return { ok: false, ...refusal };
}

function isInteger(value: number, minimum: number): boolean {
  return Number.isSafeInteger(value) && value >= minimum;
}

/** The page that was asked for and what the answer's envelope says; fields may be missing or of any type. */
export interface AnsweredPage {
  /** The number asked for, not the one in the answer: some servers answer the last page instead. */
  readonly page: number;
  readonly pageCount: unknown;
  readonly totalCount: unknown;
  readonly firstPage: number;
}

/**
 * The refusal of a page beyond the answer's own page count; waived for empty lists and for the first page (rules, 5).
 */
export function answerOutOfBounds({ page, pageCount, totalCount, firstPage }: AnsweredPage): PageRefusal | undefined {
  if (totalCount === 0 || page <= firstPage) return undefined;
  if (typeof pageCount !== 'number' || !Number.isSafeInteger(pageCount) || pageCount < 0) return undefined;
  return page > pageCount ? beyondLastPage(page, pageCount) : undefined;
}

/**
 * A page that is refused: the code, one sentence that says what was asked and what is allowed, and where it was asked.
 */
export interface PageRefusal {
  readonly code: 'page_out_of_bounds' | 'page_size_out_of_bounds';
  readonly message: string;
  readonly detail: ErrorDetail;
}

/** The refusal of a parameter. */
export function pageRefusal(name: 'page' | 'pageSize', message: string): PageRefusal {
  const code = name === 'page' ? 'page_out_of_bounds' : 'page_size_out_of_bounds';
  return { code, message, detail: { in: 'query', name, message } };
}

/** The refusal of a page beyond the last one that the list's `pageCount` allows. */
export function beyondLastPage(page: number, pageCount: number): PageRefusal {
  return pageRefusal(
    'page',
    `page ${page} was asked for, but page must not be greater than the page count, ${pageCount}`,
  );
}

import type { Paging } from '../model/operation.ts';
import { beyondLastPage, type PageRefusal, pageRefusal } from './page-refusal.ts';
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
 * learned count plus one is refused from it, which is never the first page. The count is compared with the number of the
 * page in lists that begin at 0 too: there the last page is one less, and asking for one more is left to the upstream.
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

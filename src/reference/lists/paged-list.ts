import type { PageRequest } from './page-request.ts';

/** What a list page is made of. */
export interface ListPage {
  readonly request: PageRequest;
  readonly sort: string;
  /** The sort names on offer; absent from user and topic lists. */
  readonly sorts?: readonly string[];
  readonly total: number;
  readonly items: readonly unknown[];
}

/** The paged list envelope; a page beyond the last one is empty, not an error (clients ask for pages 1 to 5 unseen). */
export function toPagedList(page: ListPage): Record<string, unknown> {
  return {
    name: '',
    sort: page.sort,
    page: page.request.page,
    pageSize: page.request.size,
    pageCount: Math.ceil(page.total / page.request.size),
    listCount: page.items.length,
    totalCount: page.total,
    ...(page.sorts === undefined ? {} : { sorts: page.sorts }),
    list: page.items,
  };
}

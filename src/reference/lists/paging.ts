/** The page that a request asks for. */
export interface PageRequest {
  /** The number that the answer shows. */
  readonly page: number;
  readonly size: number;
  readonly offset: number;
}

/** How a list counts: its first page number and its default page size. */
export interface PageDefaults {
  readonly firstPage: 0 | 1;
  readonly size: number;
}

function integer(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/**
 * Reads `page` and `pageSize`; what is no number counts as absent, page 0 of a one-based list is its first page, and
 * there is no largest page size (none is documented).
 */
export function readPageRequest(query: URLSearchParams, defaults: PageDefaults): PageRequest {
  const asked = integer(query.get('pageSize'));
  const size = asked === undefined || asked === 0 ? defaults.size : asked;
  const page = Math.max(integer(query.get('page')) ?? defaults.firstPage, defaults.firstPage);
  return { page, size, offset: (page - defaults.firstPage) * size };
}

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

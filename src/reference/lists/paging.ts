/** The requested page. */
interface PageRequest {
  /** The page number in the response. */
  readonly page: number;
  readonly size: number;
  readonly offset: number;
}

/** The first page number and the default page size of a list. */
interface PageDefaults {
  readonly firstPage: 0 | 1;
  readonly size: number;
}

function integer(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/**
 * Reads `page` and `pageSize`. Values that are not numbers are ignored. If a list begins with page 1, a request for
 * page 0 returns page 1. The page size is not limited, because no maximum is documented.
 */
export function readPageRequest(query: URLSearchParams, defaults: PageDefaults): PageRequest {
  const requested = integer(query.get('pageSize'));
  const size = requested === undefined || requested === 0 ? defaults.size : requested;
  const page = Math.max(integer(query.get('page')) ?? defaults.firstPage, defaults.firstPage);
  return { page, size, offset: (page - defaults.firstPage) * size };
}

/** The parts of a list page. */
interface ListPage {
  readonly request: PageRequest;
  readonly sort: string;
  /** The available sort names. Absent from user and topic lists. */
  readonly sorts?: readonly string[];
  readonly total: number;
  readonly items: readonly unknown[];
}

/**
 * Returns the list envelope. A page after the last one is empty rather than an error, because clients request pages 1
 * to 5 without checking whether they exist.
 */
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

import type { ErrorDetail } from '../errors/gateway-error.ts';

/** A page that is refused: the code, one sentence that says what was asked and what is allowed, and where it was asked. */
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

/** One page of a list. */
export interface ListPage<T> {
  readonly rows: readonly T[];
  /** From 1; the last one where a later one was asked for. */
  readonly page: number;
  readonly pageCount: number;
  readonly total: number;
}

/** Cuts a page out of a list; there always is one, though it may be empty. */
export function pageOf<T>(all: readonly T[], page: number, pageSize: number): ListPage<T> {
  const pageCount = Math.max(1, Math.ceil(all.length / pageSize));
  const shown = Math.min(Math.max(1, page), pageCount);
  return { rows: all.slice((shown - 1) * pageSize, shown * pageSize), page: shown, pageCount, total: all.length };
}

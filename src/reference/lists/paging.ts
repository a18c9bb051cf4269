import type { Sql, SqlValue } from '../store/sql.ts';
import { project, readProjection } from './projection.ts';

/** The first page number and the default page size of a list. */
interface PageDefaults {
  readonly firstPage: 0 | 1;
  readonly size: number;
}

function integer(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/**
 * Reads `page` and `pageSize`. Values that are not numbers are ignored (choice `page-malformed`). If a list begins with
 * page 1, a request for page 0 returns page 1 (choice `page-zero`). The page size is not limited, because no maximum is
 * documented (choice `page-size-unbounded`).
 */
export function readPageRequest(query: URLSearchParams, defaults: PageDefaults) {
  const requested = integer(query.get('pageSize'));
  const size = requested === undefined || requested === 0 ? defaults.size : requested;
  const page = Math.max(integer(query.get('page')) ?? defaults.firstPage, defaults.firstPage);
  return { page, size, offset: (page - defaults.firstPage) * size };
}

/** The rows of a list and how they are rendered. */
interface List<Row> {
  /** The selected columns, for example `u.*`. */
  readonly columns: string;
  /** The tables and the condition, for example `users u WHERE u.active = ?`. */
  readonly from: string;
  /** The values bound to the placeholders in `from`. */
  readonly values: readonly SqlValue[];
  /** The ORDER BY terms. */
  readonly order: string;
  /** The name of the sort order in the envelope. */
  readonly sort: string;
  /** The available sort names. Absent from user and topic lists. */
  readonly sorts?: readonly string[];
  readonly toItem: (row: Row) => Record<string, unknown>;
}

/**
 * Returns one page of a list in the envelope. A page after the last page is empty rather than an error, because clients
 * request pages 1 to 5 without checking whether they exist (choice `page-beyond`).
 */
export function listPage<Row>(sql: Sql, query: URLSearchParams, defaults: PageDefaults, list: List<Row>) {
  const { columns, from, values, order, sort, sorts, toItem } = list;
  const { page, size, offset } = readPageRequest(query, defaults);
  const total = sql.get<{ total: number }>(`SELECT COUNT(*) AS total FROM ${from}`, ...values)?.total ?? 0;
  const text = `SELECT ${columns} FROM ${from} ORDER BY ${order} LIMIT ? OFFSET ?`;
  const rows = sql.all<Row>(text, ...values, size, offset);
  const projection = readProjection(query);
  return {
    name: '',
    sort,
    page,
    pageSize: size,
    pageCount: Math.ceil(total / size),
    listCount: rows.length,
    totalCount: total,
    ...(sorts === undefined ? {} : { sorts }),
    list: rows.map((row) => project(toItem(row), projection)),
  };
}

import { beyondLastPage, type PageRefusal } from './page-refusal.ts';

/** The page that was asked for and what the answer's envelope says; fields may be missing or of any type. */
export interface AnsweredPage {
  /** The number asked for, not the one in the answer: some servers answer the last page instead. */
  readonly page: number;
  readonly pageCount: unknown;
  readonly totalCount: unknown;
  readonly firstPage: number;
}

/** The refusal of a page beyond the answer's own page count; waived for empty lists and for the first page (rules, 5). */
export function answerOutOfBounds({ page, pageCount, totalCount, firstPage }: AnsweredPage): PageRefusal | undefined {
  if (totalCount === 0 || page <= firstPage) return undefined;
  if (typeof pageCount !== 'number' || !Number.isSafeInteger(pageCount) || pageCount < 0) return undefined;
  return page > pageCount ? beyondLastPage(page, pageCount) : undefined;
}

import type { Trace } from '../model/trace.ts';

/**
 * Whether a request counts against the availability that was promised: it was answered with 5xx, or the connection was
 * broken because the upstream failed. A client that left first, and whatever is the client's mistake, costs nothing.
 */
export function spendsErrorBudget({ status, upstream }: Pick<Trace, 'status' | 'upstream'>): boolean {
  if (status !== undefined && status >= 500) return true;
  const unanswered = status === undefined || status === 0;
  return unanswered && upstream !== undefined && upstream.status === undefined && upstream.shape !== 'aborted';
}

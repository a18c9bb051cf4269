import type { Trace } from '../model/trace.ts';

/**
 * Whether a request counts against the availability that was promised: it was answered with 5xx, or the connection was
 * broken because the upstream failed. A client that left first, and whatever is the client's mistake, costs nothing.
 */
export function spendsErrorBudget({ status, error, upstream }: Pick<Trace, 'status' | 'error' | 'upstream'>): boolean {
  // The one status over 499 that is the client's mistake.
  if (error === 'unknown_transfer_coding') return false;
  if (status !== undefined && status >= 500) return true;
  const unanswered = status === undefined || status === 0;
  return unanswered && upstream !== undefined && upstream.status === undefined && upstream.shape !== 'aborted';
}

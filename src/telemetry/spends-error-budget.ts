import type { Trace } from '../model/trace.ts';

/**
 * Returns whether a request counts against the availability target: its status was 5xx, or the connection was broken
 * because the upstream failed. Requests that the client aborted and errors of the client do not count.
 */
export function spendsErrorBudget({ status, error, upstream }: Pick<Trace, 'status' | 'error' | 'upstream'>): boolean {
  // The only status of 500 or above that is an error of the client.
  if (error === 'unknown_transfer_coding') return false;
  if (status !== undefined && status >= 500) return true;
  const withoutResponse = status === undefined || status === 0;
  return withoutResponse && upstream !== undefined && upstream.status === undefined && upstream.shape !== 'aborted';
}

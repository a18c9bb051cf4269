import { parseHttpDate } from './http-date.ts';

/**
 * Returns how long a server asks clients to wait, in milliseconds, from the value of `Retry-After`: a number of seconds or
 * a date (RFC 9110 §10.2.3). Undefined if it is neither. `now` is in epoch milliseconds.
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = parseHttpDate(text, now);
  return at === undefined ? undefined : Math.max(0, at - now);
}

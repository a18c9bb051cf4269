import type { Arrival } from '../model/arrival.ts';
import { headerValue, type HeaderPairs } from '../model/header-pairs.ts';

/** What we call ourselves in `Via` (RFC 9110 §7.6.3). */
const VIA = '1.1 portico';

const FORWARDING = new Set(['forwarded', 'x-real-ip', 'via', 'x-request-id', 'traceparent', 'tracestate']);

/** True for fields that we write ourselves, so that a client's own are not believed. */
export function isForwardingField(name: string): boolean {
  const key = name.toLowerCase();
  return FORWARDING.has(key) || key.startsWith('x-forwarded-');
}

/** Who asked, by which name, and the trace it belongs to: from what was resolved on arrival, never from the client's word. */
export function forwardingHeaders(arrival: Arrival, earlier: HeaderPairs = []): HeaderPairs {
  const host = arrival.headers.host;
  const via = headerValue(earlier, 'via');
  return [
    ['X-Forwarded-For', arrival.clientAddress],
    ['X-Forwarded-Proto', arrival.protocol],
    ...(host ? [['X-Forwarded-Host', host] as const] : []),
    ['Via', via ? `${via}, ${VIA}` : VIA],
    ['X-Request-Id', arrival.requestId],
    ['traceparent', arrival.traceparent],
    ...(arrival.tracestate ? [['tracestate', arrival.tracestate] as const] : []),
  ];
}

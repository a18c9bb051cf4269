import { randomBytes, randomUUID } from 'node:crypto';
import type { Arrival, PublicOrigin } from '../model/arrival.ts';
import { headerValue, type HeaderPairs } from '../model/header-pairs.ts';

/** What we call ourselves in `Via` (RFC 9110 §7.6.3). */
const VIA = '1.1 portico';

const FORWARDING = new Set(['forwarded', 'x-real-ip', 'via', 'x-request-id', 'traceparent', 'tracestate']);

/** True for fields that we write ourselves, so that a client's own are not believed. */
export function isForwardingField(name: string): boolean {
  const key = name.toLowerCase();
  return FORWARDING.has(key) || key.startsWith('x-forwarded-');
}

/**
 * Who asked, under which host, and which trace the request belongs to, as resolved on arrival. Only for responses that nobody
 * but this client gets: the client chose the host, the request id and the trace.
 */
export function forwardingHeaders(arrival: Arrival, earlier: HeaderPairs = []): HeaderPairs {
  const via = headerValue(earlier, 'via');
  return [
    ['X-Forwarded-For', arrival.clientAddress],
    ['X-Forwarded-Proto', arrival.protocol],
    ...(arrival.host ? [['X-Forwarded-Host', arrival.host] as const] : []),
    ['Via', via ? `${via}, ${VIA}` : VIA],
    ['X-Request-Id', arrival.requestId],
    ['traceparent', arrival.traceparent],
    ...(arrival.tracestate ? [['tracestate', arrival.tracestate] as const] : []),
  ];
}

/** The names under which the upstream knows an exchange that is made for more than one client. */
export interface SharedIdentity {
  readonly requestId: string;
  readonly traceparent: string;
}

/** Names such an exchange afresh; the trace id is the request id without its dashes, so that one log entry finds both. */
export function sharedIdentity(): SharedIdentity {
  const requestId = randomUUID();
  const spanId = randomBytes(8).toString('hex');
  return { requestId, traceparent: `00-${requestId.replaceAll('-', '')}-${spanId}-00` };
}

/**
 * The forwarding fields of a request whose response is stored: whatever the upstream copies from them into the page is shown
 * to other clients too. So they hold nothing that the client chose and the cache key leaves out (rules, 2): no client address,
 * no trace state, and scheme and host only where they are configured.
 */
export function sharedForwardingHeaders(identity: SharedIdentity, origin: PublicOrigin | undefined): HeaderPairs {
  return [
    ...(origin === undefined ? [] : [['X-Forwarded-Proto', origin.protocol] as const]),
    ...(origin?.host === undefined ? [] : [['X-Forwarded-Host', origin.host] as const]),
    ['Via', VIA],
    ['X-Request-Id', identity.requestId],
    ['traceparent', identity.traceparent],
  ];
}

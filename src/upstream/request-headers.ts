import type { Arrival } from '../model/arrival.ts';
import type { HeaderPairs } from '../model/header-pairs.ts';
import { ACCEPT_ENCODING } from './content-coding.ts';
import { forwardingHeaders } from './forwarding-headers.ts';

/** What a documented operation adds to the fixed fields of its upstream request. */
export interface RequestHeaderChoice {
  /** The caller's forwarded credential or the service account's; undefined for anonymous callers. */
  readonly authorization: string | undefined;
  readonly hasBody: boolean;
}

/** The fields of an upstream request for a documented operation: an allowlist (rules, 2), nothing else of the client passes. */
export function requestHeaders(arrival: Arrival, choice: RequestHeaderChoice): HeaderPairs {
  return [
    ...(choice.authorization === undefined ? [] : [['Authorization', choice.authorization] as const]),
    ['Accept', 'application/json'],
    ...(choice.hasBody ? [['Content-Type', 'application/json'] as const] : []),
    ['Accept-Encoding', ACCEPT_ENCODING],
    ...forwardingHeaders(arrival),
  ];
}

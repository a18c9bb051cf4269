import type { HeaderPairs } from '../model/header-pairs.ts';
import { ACCEPT_ENCODING } from './content-coding.ts';

/**
 * The headers of an upstream request for a documented operation: an allowlist (rules, 2), nothing else of the client
 * passes. `authorization` is the caller's forwarded credential or the service account's; undefined for anonymous callers.
 */
export function requestHeaders(authorization: string | undefined, forwarding: HeaderPairs): HeaderPairs {
  return [
    ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
    ['Accept', 'application/json'],
    // Every request to the legacy server carries it, those without a body too.
    ['Content-Type', 'application/json'],
    ['Accept-Encoding', ACCEPT_ENCODING],
    ...forwarding,
  ];
}

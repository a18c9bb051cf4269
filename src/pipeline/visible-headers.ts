import type { HeaderPairs } from '../model/header-pairs.ts';

/**
 * Fields of a documented answer that reach the client. Cookies, validators, freshness and the name of the upstream's
 * software do not: Portico answers for those itself (rules, 2 and 6). A challenge and a
 * `Location` get here with legacy errors only, a content coding only where it could not be taken off.
 */
const VISIBLE =
  /^(?:content-type|content-encoding|location|content-language|link|retry-after|deprecation|sunset|www-authenticate|portico-redacted)$/i;

/** Takes away every field of an upstream's answer that clients of a documented operation do not get. */
export function visibleHeaders(headers: HeaderPairs): HeaderPairs {
  return headers.filter(([name]) => VISIBLE.test(name));
}

import type { HeaderPairs } from '../model/header-pairs.ts';

// An allowlist: a field that nobody thought of may name the caller it was meant for.
const KEPT: ReadonlySet<string> = new Set(['content-type', 'content-language', 'link']);

/** The fields that are kept with a stored page; send the same ones on a miss, so that hit and miss look alike. */
export function keptHeaders(headers: HeaderPairs): HeaderPairs {
  return headers.filter(([name]) => KEPT.has(name.toLowerCase()));
}

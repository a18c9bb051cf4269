import type { HeaderPairs } from '../model/header-pairs.ts';

/** What clients are told of pages that may be kept here: keep them for yourself, ask before each use (rules, 6). */
export const CLIENT_CACHE_HEADERS: HeaderPairs = [
  ['Cache-Control', 'private, no-cache'],
  // Kept pages have a gzip form.
  ['Vary', 'Accept-Encoding'],
];

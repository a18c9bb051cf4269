import type { HeaderPairs } from '../model/header-pairs.ts';

/**
 * Cache directives, keyed by their names in lower case. A directive without an argument has an empty string as its
 * value.
 */
type CacheDirectives = ReadonlyMap<string, readonly string[]>;

const DIRECTIVE = /(?:^|,)\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?/g;

/** Parses all `Cache-Control` headers of a message (RFC 9111, 5.2). Invalid members are skipped. */
export function cacheDirectives(headers: HeaderPairs): CacheDirectives {
  const directives = new Map<string, string[]>();
  for (const [field, value] of headers) {
    if (field.toLowerCase() !== 'cache-control') continue;
    for (const [, name = '', quoted, plain = ''] of value.matchAll(DIRECTIVE)) {
      const values = directives.get(name.toLowerCase()) ?? [];
      values.push(quoted ?? plain);
      directives.set(name.toLowerCase(), values);
    }
  }
  return directives;
}

/**
 * Returns a directive's value in seconds, or undefined if the directive is absent. An invalid value is treated as 0. If
 * the directive is repeated, the smallest value applies (RFC 9111, 4.2.1).
 */
export function directiveSeconds(directives: CacheDirectives, name: string): number | undefined {
  const values = directives.get(name);
  if (values === undefined) return undefined;
  return Math.min(...values.map((value) => (/^[0-9]{1,10}$/.test(value) ? Number(value) : 0)));
}

/** Returns true if a client requests a fresh response and has a role that permits this (rules, 6). */
export function mayBypass(
  request: { readonly cacheControl: string | undefined; readonly pragma: string | undefined },
  roles: Iterable<string>,
  noCacheRoles: readonly string[],
): boolean {
  if (noCacheRoles.length === 0 || !requestsFresh(request)) return false;
  for (const role of roles) if (noCacheRoles.includes(role)) return true;
  return false;
}

function requestsFresh({ cacheControl, pragma }: { cacheControl: string | undefined; pragma: string | undefined }) {
  if (cacheControl !== undefined) {
    const directives = cacheDirectives([['cache-control', cacheControl]]);
    return directives.has('no-cache') || directives.has('no-store') || directives.get('max-age')?.[0] === '0';
  }
  // Pragma applies only if there is no Cache-Control header (RFC 9111, 5.4).
  return pragma !== undefined && /(?:^|,)\s*no-cache\s*(?:,|$)/i.test(pragma);
}

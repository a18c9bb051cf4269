import type { HeaderPairs } from '../model/header-pairs.ts';

/** Directives by lower-case name. The value of a directive without an argument is an empty text. */
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

/** Returns the seconds of a directive: the smallest of several values, 0 if invalid (RFC 9111, 4.2.1), undefined if absent. */
export function directiveSeconds(directives: CacheDirectives, name: string): number | undefined {
  const values = directives.get(name);
  if (values === undefined) return undefined;
  return Math.min(...values.map((value) => (/^[0-9]{1,10}$/.test(value) ? Number(value) : 0)));
}

/** Returns true if a client requests a fresh response and one of its roles allows that (rules, 6). */
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
  // RFC 9111, 5.4: Pragma counts only without Cache-Control.
  return pragma !== undefined && /(?:^|,)\s*no-cache\s*(?:,|$)/i.test(pragma);
}

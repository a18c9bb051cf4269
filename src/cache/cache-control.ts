import type { HeaderPairs } from '../model/header-pairs.ts';

/** Directives by lower-case name; those without an argument map to an empty text. */
export type CacheDirectives = ReadonlyMap<string, readonly string[]>;

const DIRECTIVE = /(?:^|,)\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?/g;

/** Reads every `Cache-Control` field of a message (RFC 9111, 5.2); members that cannot be read are skipped. */
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

/** The seconds that a directive gives: the smallest of several; 0 when unreadable (RFC 9111, 4.2.1); undefined when absent. */
export function directiveSeconds(directives: CacheDirectives, name: string): number | undefined {
  const values = directives.get(name);
  if (values === undefined) return undefined;
  return Math.min(...values.map((value) => (/^[0-9]{1,10}$/.test(value) ? Number(value) : 0)));
}

/** Whether a client asks for a fresh answer and one of its roles may (rules, 6); everybody else's wish is ignored. */
export function mayBypass(
  request: { readonly cacheControl: string | undefined; readonly pragma: string | undefined },
  roles: Iterable<string>,
  noCacheRoles: readonly string[],
): boolean {
  if (noCacheRoles.length === 0 || !asksForFresh(request)) return false;
  for (const role of roles) if (noCacheRoles.includes(role)) return true;
  return false;
}

function asksForFresh({ cacheControl, pragma }: { cacheControl: string | undefined; pragma: string | undefined }) {
  if (cacheControl !== undefined) {
    const directives = cacheDirectives([['cache-control', cacheControl]]);
    return directives.has('no-cache') || directives.has('no-store') || directives.get('max-age')?.[0] === '0';
  }
  // RFC 9111, 5.4: Pragma counts only where Cache-Control is absent.
  return pragma !== undefined && /(?:^|,)\s*no-cache\s*(?:,|$)/i.test(pragma);
}

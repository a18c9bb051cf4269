import { cacheDirectives } from './cache-control.ts';

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

import { authorizationOf, MEMBER, STRANGER } from '../peers/credentials.ts';
import { UNDOCUMENTED_PATH } from '../peers/portico.ts';
import type { BenchRequest } from './scenario.ts';

/** The page that every scenario requests. */
export const PAGE_PATH = '/services/v2/question.json?page=1&pageSize=15&sort=newest';

const ACCEPT = { Accept: 'application/json' };
const HEADERS = { Authorization: authorizationOf(MEMBER), ...ACCEPT };

/** The ordinary request: one page for a caller with the required permission. */
export const PLAIN: BenchRequest = { path: PAGE_PATH, headers: HEADERS, status: 200, page: true };

/** Like `PLAIN`, but from a client that accepts gzip. */
export const PLAIN_GZIP: BenchRequest = { ...PLAIN, headers: { ...HEADERS, 'Accept-Encoding': 'gzip' } };

/** Like `PLAIN`, but from a client that already has the page. */
export const PLAIN_REVALIDATED: BenchRequest = { ...PLAIN, status: 304, page: false, revalidate: true };

const FROM_CACHE = {
  proof: { 'cache-status': /hit/ },
  counted: /^portico_cache_requests_total\{.*result="hit"/,
} as const;

/** A request that Portico serves from the cache. A header and a metric must confirm this. */
export const HIT: BenchRequest = { ...PLAIN, ...FROM_CACHE };

/** Like `HIT`, but from a client that accepts gzip. */
export const HIT_GZIP: BenchRequest = { ...PLAIN_GZIP, ...FROM_CACHE };

/** Like `HIT`, but from a client that already has the page. */
export const HIT_REVALIDATED: BenchRequest = { ...PLAIN_REVALIDATED, ...FROM_CACHE };

/** A request whose response Portico fetches and finds valid. A header and a metric must confirm this. */
export const VALIDATED: BenchRequest = {
  ...PLAIN,
  proof: { 'contract-status': /^conforming$/ },
  counted: /^portico_checks_total\{check="responses",outcome="passed"\}/,
};

/** Like `VALIDATED`, but for pages with two undocumented fields, which Portico reports and forwards. */
export const VALIDATED_UNDOCUMENTED: BenchRequest = {
  ...VALIDATED,
  proof: { 'contract-status': /^violations; count=2; worst=undocumented/ },
  undocumented: true,
};

/**
 * A request for a new target whose response Portico fetches, finds valid and stores. Headers and a metric must confirm
 * this.
 */
export const STORED: BenchRequest = {
  ...VALIDATED,
  proof: { ...VALIDATED.proof, 'cache-status': /stored/ },
  counted: /^portico_cache_requests_total\{.*result="miss"/,
};

/** A request whose response Portico fetches while the `responses` check is off. */
export const FETCHED: BenchRequest = { ...PLAIN, counted: /^portico_upstream_answers_total\{.*status_class="2xx"/ };

/** A request for an undocumented path that is allowed. */
export const UNDOCUMENTED: BenchRequest = { ...PLAIN, path: UNDOCUMENTED_PATH };

/** Like `UNDOCUMENTED`, but sent through Portico. The response contains no cache status. */
export const UNDOCUMENTED_BY_PORTICO: BenchRequest = {
  ...UNDOCUMENTED,
  proof: { 'cache-status': 'absent', via: /portico/ },
};

/** The requests that Portico refuses. `why` contains the status and the reason. */
export const REFUSED: readonly (BenchRequest & { readonly why: string })[] = [
  {
    why: '401, no credential',
    path: PAGE_PATH,
    headers: ACCEPT,
    status: 401,
    page: false,
    counted: /^portico_errors_total\{code="credentials_required"\}/,
  },
  {
    why: '403, no permission',
    path: PAGE_PATH,
    headers: { Authorization: authorizationOf(STRANGER), ...ACCEPT },
    status: 403,
    page: false,
    counted: /^portico_errors_total\{code="permission_denied"\}/,
  },
  {
    why: '400, unknown parameter',
    path: `${PAGE_PATH}&colour=blue`,
    headers: HEADERS,
    status: 400,
    page: false,
    counted: /^portico_errors_total\{code="unknown_parameter"\}/,
  },
];

/** Returns a request for one of many keys. The last seven digits of its search text are the key. */
export function keyed(request: BenchRequest, keys: number | 'fresh'): BenchRequest {
  return { ...request, path: `${PAGE_PATH}&q=key`, keys };
}

import { authorizationOf, MEMBER, STRANGER } from '../peers/credentials.ts';
import { PASSED_PATH } from '../peers/portico.ts';
import type { Asked } from './scenario.ts';

/** The page that every scenario asks for. */
export const PAGE_PATH = '/services/v2/question.json?page=1&pageSize=15&sort=newest';

const ACCEPT = { Accept: 'application/json' };
const HEADERS = { Authorization: authorizationOf(MEMBER), ...ACCEPT };

/** The ordinary request: one page, by somebody who may see it. */
export const ASKED: Asked = { path: PAGE_PATH, headers: HEADERS, status: 200, page: true };

/** The same by somebody who takes gzip. */
export const ASKED_GZIP: Asked = { ...ASKED, headers: { ...HEADERS, 'Accept-Encoding': 'gzip' } };

/** The same by somebody who has the page already. */
export const ASKED_AGAIN: Asked = { ...ASKED, status: 304, page: false, revalidate: true };

const FROM_MEMORY = {
  proof: { 'cache-status': /hit/ },
  counted: /^portico_cache_requests_total\{.*result="hit"/,
} as const;

/** Pages that Portico answers from memory: field and metric say so. */
export const HIT: Asked = { ...ASKED, ...FROM_MEMORY };

/** As HIT, for a client that takes gzip. */
export const HIT_GZIP: Asked = { ...ASKED_GZIP, ...FROM_MEMORY };

/** As HIT, for a client that has the page already. */
export const HIT_AGAIN: Asked = { ...ASKED_AGAIN, ...FROM_MEMORY };

/** Pages that Portico fetched and found to keep the contract: field and metric say so. */
export const VALIDATED: Asked = {
  ...ASKED,
  proof: { 'contract-status': /^conforming$/ },
  counted: /^portico_checks_total\{check="responses",outcome="passed"\}/,
};

/** Pages that Portico fetched with the check of answers switched off. */
export const FETCHED: Asked = { ...ASKED, counted: /^portico_upstream_answers_total\{.*status_class="2xx"/ };

/** A path outside the contract that is allowed to pass. */
export const PASSED: Asked = { ...ASKED, path: PASSED_PATH };

/** As PASSED, through Portico: nothing is said of the contract or of the cache. */
export const PASSED_BY_PORTICO: Asked = { ...PASSED, proof: { 'cache-status': 'absent', via: /portico/ } };

/** Requests that Portico refuses itself, by status. */
export const REFUSED: readonly (Asked & { readonly why: string })[] = [
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

/** One of many keys: the search text ends in seven digits. */
export function keyed(asked: Asked, keys: number): Asked {
  return { ...asked, path: `${PAGE_PATH}&q=key`, keys };
}

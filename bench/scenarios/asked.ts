import { authorizationOf, MEMBER } from '../peers/credentials.ts';
import type { Asked } from './scenario.ts';

/** The page that every scenario asks for. */
export const PAGE_PATH = '/services/v2/question.json?page=1&pageSize=15&sort=newest';

const HEADERS = { Authorization: authorizationOf(MEMBER), Accept: 'application/json' };

/** The ordinary request: one page, by somebody who may see it. */
export const ASKED: Asked = { path: PAGE_PATH, headers: HEADERS, status: 200, page: true };

/** The same, answered by Portico from memory. */
export const HIT: Asked = { ...ASKED, proof: { 'cache-status': /hit/ } };

/** The same, fetched by Portico and found to keep the contract. */
export const VALIDATED: Asked = { ...ASKED, proof: { 'contract-status': /^conforming$/ } };

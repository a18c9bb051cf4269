import type { Page } from './pages.ts';
import { nginx } from './peers/nginx.ts';
import { nodeHttp, prism, proxy, validator } from './peers/node-peers.ts';
import type { Peer } from './peers/peer.ts';
import { portico, type PorticoOptions, UNDOCUMENTED_PATH } from './peers/portico.ts';

/** A server, and the request that it gets. */
export interface Case {
  readonly id: string;
  /** What the server does with the request, as shown after its name. */
  readonly does: string;
  readonly peer: Peer;
  /** The upstream's page. Apart from hits, every response has a body of its own. */
  readonly page: Page;
  readonly path: string;
  /** In how many turns it is visited. A turn starts a new process. */
  readonly turns: number;
  /** Appends a key to the path, so that every request has a new target. */
  readonly hasNewTargets?: boolean;
  /** The headers that show what the server did, with a pattern for each value. */
  readonly proof?: Readonly<Record<string, RegExp | 'absent'>>;
  /** The line in Portico's metrics that must grow by the number of requests. */
  readonly counted?: RegExp;
}

/** The page that all but the passthrough request. */
export const PAGE_PATH = '/services/v2/question.json?page=1&pageSize=15&sort=newest';

/** The names for `--only`, and the cases that each needs. */
export const PARTS: Readonly<Record<string, readonly string[]>> = {
  hit: ['hit', 'bare', 'nginx'],
  miss: ['miss', 'proxy'],
  undocumented: ['undocumented', 'proxy-undocumented', 'miss'],
  validators: ['miss', 'validator', 'prism'],
  passthrough: ['passthrough', 'proxy-passthrough'],
  'new-target': ['new-target', 'miss-2k'],
  size: ['miss-2k', 'miss', 'miss-200k'],
  start: [],
};

/** Returns all cases. Those that are compared with one another are neighbors, because the machine's speed changes. */
export function allCases(options: PorticoOptions = {}): readonly Case[] {
  const documented = { size: '29k', undocumented: false } as const;
  const extended = { size: '29k', undocumented: true } as const;
  const caching = portico({ cache: true }, options);
  const fetching = portico({ cache: false }, options);
  const page = { page: documented, path: PAGE_PATH };
  const hit = { ...page, turns: 5, does: 'hit' };
  const miss = { ...page, turns: 2, does: 'miss' };
  const passthrough = { page: documented, path: UNDOCUMENTED_PATH, turns: 2, does: 'passthrough' };
  const valid = {
    ...miss,
    peer: fetching,
    proof: { 'contract-status': /^conforming$/ },
    counted: /^portico_checks_total\{check="responses",outcome="passed"\}/,
  };
  return [
    {
      ...hit,
      id: 'hit',
      peer: caching,
      proof: { 'cache-status': /hit/ },
      counted: /^portico_cache_requests_total\{.*result="hit"/,
    },
    { ...hit, id: 'bare', peer: nodeHttp() },
    { ...hit, id: 'nginx', peer: nginx() },
    { ...miss, id: 'prism', peer: prism() },
    { ...miss, id: 'validator', peer: validator() },
    { ...miss, id: 'proxy', peer: proxy() },
    { ...valid, id: 'miss' },
    {
      ...valid,
      id: 'undocumented',
      does: 'miss, two undocumented fields',
      page: extended,
      proof: { 'contract-status': /^violations; count=2; worst=undocumented/ },
    },
    { ...miss, id: 'proxy-undocumented', does: 'the same page', page: extended, peer: proxy() },
    { ...passthrough, id: 'proxy-passthrough', peer: proxy() },
    { ...passthrough, id: 'passthrough', peer: caching, proof: { 'cache-status': 'absent', via: /portico/ } },
    { ...valid, id: 'miss-200k', does: 'miss, 200 kB', page: { size: '200k', undocumented: false } },
    { ...valid, id: 'miss-2k', does: 'miss, 2 kB', page: { size: '2k', undocumented: false } },
    {
      ...valid,
      id: 'new-target',
      does: 'new target, 2 kB, stored',
      peer: caching,
      page: { size: '2k', undocumented: false },
      path: `${PAGE_PATH}&q=key`,
      hasNewTargets: true,
      proof: { ...valid.proof, 'cache-status': /stored/ },
      counted: /^portico_cache_requests_total\{.*result="miss"/,
    },
  ];
}

/** Returns the cases that the given parts need, or all cases. */
export function selectCases(only: readonly string[], cases = allCases()): readonly Case[] {
  const wanted = new Set(only.flatMap((part) => PARTS[part] ?? []));
  return only.length === 0 ? cases : cases.filter(({ id }) => wanted.has(id));
}

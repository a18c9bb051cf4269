import { nginx } from '../peers/nginx.ts';
import { nodeHttp } from '../peers/node-http.ts';
import { portico } from '../peers/portico.ts';
import { varnish } from '../peers/varnish.ts';
import type { PageSize } from '../pages.ts';
import { PLAIN, PLAIN_REVALIDATED, PLAIN_GZIP, HIT, HIT_REVALIDATED, HIT_GZIP } from './requests.ts';
import type { Effort } from './effort.ts';
import type { Entry, Rounds, Scenario } from './scenario.ts';

const caching = (): Entry['peer'] => portico({ label: 'hit', responses: 'enforce', cache: true });

const plainNginx: Entry = { peer: nginx('cache'), request: PLAIN };

/**
 * Returns scenarios with stored responses (unchanged, compressed, or as a 304), for several sizes and numbers of
 * connections.
 */
export function hitScenarios({ main, side }: Effort): Scenario[] {
  return [
    identity('hit', '29k', 32, main, {
      others: [plainNginx, { peer: varnish(), request: PLAIN }],
      usualPerSecond: 50_000,
    }),
    {
      id: 'hit-busy',
      title: 'Cache hit, identity, 29 kB, 32 connections, while another program keeps the core busy',
      size: '29k',
      upstream: 'same',
      connections: 32,
      rounds: main,
      hasNeighbor: true,
      usualPerSecond: 40_000,
      entries: [
        { peer: nginx('cache', { tuned: true }), request: PLAIN },
        { peer: caching(), request: HIT },
        { peer: nodeHttp('29k'), request: PLAIN },
      ],
    },
    identity('hit-2k', '2k', 32, side, { usualPerSecond: 60_000 }),
    identity('hit-200k', '200k', 32, side, { usualPerSecond: 22_000 }),
    identity('hit-1c', '29k', 1, side, { usualPerSecond: 11_000 }),
    identity('hit-256c', '29k', 256, side, { usualPerSecond: 45_000 }),
    {
      id: 'hit-gzip',
      title: 'Cache hit, Accept-Encoding: gzip, 29 kB, 32 connections',
      size: '29k',
      upstream: 'same',
      connections: 32,
      rounds: main,
      usualPerSecond: 25_000,
      entries: [
        { peer: nginx('gzip', { tuned: true }), request: PLAIN_GZIP },
        { peer: nginx('gzip'), request: PLAIN_GZIP },
        { peer: caching(), request: HIT_GZIP },
      ],
    },
    {
      id: 'not-modified',
      title: '304 for a matching If-None-Match, 29 kB, 32 connections; the whole page for comparison',
      size: '29k',
      upstream: 'tagged',
      connections: 32,
      rounds: main,
      usualPerSecond: 45_000,
      entries: [
        { peer: nginx('cache', { tuned: true }), request: PLAIN_REVALIDATED },
        { peer: portico({ label: '304', responses: 'enforce', cache: true }), request: HIT_REVALIDATED },
        { peer: caching(), request: HIT },
      ],
    },
  ];
}

function identity(
  id: string,
  size: PageSize,
  connections: number,
  rounds: Rounds,
  { others = [], usualPerSecond }: { others?: readonly Entry[]; usualPerSecond: number },
): Scenario {
  const plural = connections === 1 ? 'connection' : 'connections';
  return {
    id,
    title: `Cache hit, identity, ${size.replace('k', ' kB')}, ${connections} ${plural}`,
    size,
    upstream: 'same',
    connections,
    rounds,
    usualPerSecond,
    entries: [
      { peer: nginx('cache', { tuned: true }), request: PLAIN },
      { peer: caching(), request: HIT },
      { peer: nodeHttp(size), request: PLAIN },
      ...others,
    ],
  };
}

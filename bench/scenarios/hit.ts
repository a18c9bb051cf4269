import { nginx } from '../peers/nginx.ts';
import { nodeHttp } from '../peers/node-http.ts';
import { portico } from '../peers/portico.ts';
import { varnish } from '../peers/varnish.ts';
import type { PageSize } from '../pages.ts';
import { PLAIN, PLAIN_REVALIDATED, PLAIN_GZIP, HIT, HIT_REVALIDATED, HIT_GZIP } from './requests.ts';
import type { Effort } from './effort.ts';
import type { Rounds, Scenario } from './scenario.ts';

const caching = () => portico({ label: 'hit', responses: 'enforce', cache: true });

/** Stored responses: unchanged, compressed, or as a 304; by size and by number of connections. */
export function hitScenarios({ main, side }: Effort): Scenario[] {
  return [
    identity('hit', '29k', 32, main),
    identity('hit-2k', '2k', 32, side),
    identity('hit-200k', '200k', 32, side),
    identity('hit-1c', '29k', 1, side),
    identity('hit-256c', '29k', 256, side),
    {
      id: 'hit-gzip',
      title: 'Cache hit, Accept-Encoding: gzip, 29 kB, 32 connections',
      size: '29k',
      upstream: 'same',
      connections: 32,
      rounds: main,
      entries: [
        { peer: nginx('gzip'), request: PLAIN_GZIP },
        { peer: caching(), request: HIT_GZIP },
      ],
    },
    {
      id: 'not-modified',
      title: '304 for a matching If-None-Match, 29 kB, 32 connections; beside it the whole page',
      size: '29k',
      upstream: 'tagged',
      connections: 32,
      rounds: main,
      entries: [
        { peer: nginx('cache'), request: PLAIN_REVALIDATED },
        { peer: portico({ label: '304', responses: 'enforce', cache: true }), request: HIT_REVALIDATED },
        { peer: caching(), request: HIT },
      ],
    },
  ];
}

function identity(id: string, size: PageSize, connections: number, rounds: Rounds): Scenario {
  const plural = connections === 1 ? 'connection' : 'connections';
  return {
    id,
    title: `Cache hit, identity, ${size.replace('k', ' kB')}, ${connections} ${plural}`,
    size,
    upstream: 'same',
    connections,
    rounds,
    entries: [
      { peer: nginx('cache'), request: PLAIN },
      { peer: varnish(), request: PLAIN },
      { peer: nodeHttp(size), request: PLAIN },
      { peer: caching(), request: HIT },
    ],
  };
}

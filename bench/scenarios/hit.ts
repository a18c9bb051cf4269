import { nginx } from '../peers/nginx.ts';
import { nodeHttp } from '../peers/node-http.ts';
import { portico } from '../peers/portico.ts';
import { varnish } from '../peers/varnish.ts';
import type { PageSize } from '../pages.ts';
import { ASKED, ASKED_AGAIN, ASKED_GZIP, HIT, HIT_AGAIN, HIT_GZIP } from './asked.ts';
import type { Effort } from './effort.ts';
import type { Rounds, Scenario } from './scenario.ts';

const keeping = () => portico({ label: 'hit', responses: 'enforce', cache: true });

/** Kept pages: as they are, compressed, or only confirmed; by size and by number of connections. */
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
        { peer: nginx('gzip'), asked: ASKED_GZIP },
        { peer: keeping(), asked: HIT_GZIP },
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
        { peer: nginx('cache'), asked: ASKED_AGAIN },
        { peer: portico({ label: '304', responses: 'enforce', cache: true }), asked: HIT_AGAIN },
        { peer: keeping(), asked: HIT },
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
      { peer: nginx('cache'), asked: ASKED },
      { peer: varnish(), asked: ASKED },
      { peer: nodeHttp(size), asked: ASKED },
      { peer: keeping(), asked: HIT },
    ],
  };
}

import { nginx } from '../peers/nginx.ts';
import { nodeHttp } from '../peers/node-http.ts';
import { portico } from '../peers/portico.ts';
import { ASKED, HIT } from './asked.ts';
import type { Rounds, Scenario } from './scenario.ts';

/** A kept page, sent as it is. */
export function hitScenarios(rounds: Rounds): Scenario[] {
  return [
    {
      id: 'hit',
      title: 'Cache hit, identity, 29 kB, 32 connections',
      size: '29k',
      upstream: 'same',
      connections: 32,
      rounds,
      entries: [
        { peer: nginx('cache'), asked: ASKED },
        { peer: nodeHttp('29k'), asked: ASKED },
        { peer: portico({ label: 'hit', responses: 'enforce', cache: true }), asked: HIT },
      ],
    },
  ];
}

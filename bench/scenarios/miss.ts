import { nodePeer } from '../peers/node-peer.ts';
import { portico } from '../peers/portico.ts';
import { ASKED, VALIDATED } from './asked.ts';
import type { Rounds, Scenario } from './scenario.ts';

/** Pages that are fetched, and by Portico validated, for each request. */
export function missScenarios(rounds: Rounds): Scenario[] {
  return [
    {
      id: 'miss-distinct',
      title: 'Miss, all bodies distinct, 29 kB, 32 connections',
      size: '29k',
      upstream: 'stamped',
      connections: 32,
      rounds,
      entries: [
        { peer: nodePeer('http-proxy-middleware', 'express + http-proxy-middleware'), asked: ASKED },
        { peer: portico({ label: 'enforce', responses: 'enforce', cache: false }), asked: VALIDATED },
      ],
    },
  ];
}

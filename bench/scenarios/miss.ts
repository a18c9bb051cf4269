import { haproxy } from '../peers/haproxy.ts';
import { nginx } from '../peers/nginx.ts';
import { nodePeer } from '../peers/node-peer.ts';
import { portico } from '../peers/portico.ts';
import { prism } from '../peers/prism.ts';
import { PLAIN, FETCHED, UNDOCUMENTED, UNDOCUMENTED_BY_PORTICO, VALIDATED } from './requests.ts';
import type { Effort } from './effort.ts';
import type { Entry, Scenario } from './scenario.ts';

const hpm: Entry = { peer: nodePeer('http-proxy-middleware', 'express + http-proxy-middleware'), request: PLAIN };
const fastify: Entry = { peer: nodePeer('fastify-http-proxy', '@fastify/http-proxy'), request: PLAIN };
const validator: Entry = {
  peer: nodePeer('express-openapi-validator', 'express-openapi-validator + http-proxy-middleware'),
  request: PLAIN,
};

function fetching(responses: 'enforce' | 'report' | 'off'): Entry {
  const label = responses === 'off' ? 'responses off' : responses;
  return { peer: portico({ label, responses, cache: false }), request: responses === 'off' ? FETCHED : VALIDATED };
}

/** Pages that are fetched for each request, and validated by the servers that validate. */
export function missScenarios({ main, side }: Effort): Scenario[] {
  const base = { connections: 32, rounds: main } as const;
  return [
    {
      ...base,
      id: 'miss-distinct',
      title: 'Miss, all bodies distinct, 29 kB, 32 connections',
      size: '29k',
      upstream: 'stamped',
      entries: [
        fetching('enforce'),
        fetching('report'),
        fetching('off'),
        hpm,
        fastify,
        validator,
        { peer: prism(), request: PLAIN },
        { peer: nginx('pass'), request: PLAIN },
        { peer: haproxy(), request: PLAIN },
      ],
    },
    ...(['2k', '200k'] as const).map((size): Scenario => ({
      connections: base.connections,
      rounds: side,
      id: `miss-distinct-${size}`,
      title: `Miss, all bodies distinct, ${size.replace('k', ' kB')}, 32 connections`,
      size,
      upstream: 'stamped',
      entries: [fetching('enforce'), hpm],
    })),
    {
      ...base,
      id: 'miss-same',
      title: 'Miss, identical bodies, 29 kB, 32 connections',
      size: '29k',
      upstream: 'same',
      entries: [fetching('enforce'), fetching('report'), hpm],
    },
    {
      ...base,
      rounds: side,
      id: 'miss-gzip',
      title: 'Miss, the upstream sends gzip, identical bodies, 29 kB, 32 connections',
      size: '29k',
      upstream: 'gzip',
      entries: [fetching('enforce'), hpm],
    },
    {
      ...base,
      id: 'passthrough',
      title: 'Passthrough of an undocumented path, 29 kB, 32 connections',
      size: '29k',
      upstream: 'stamped',
      entries: [
        {
          peer: portico({ label: 'passthrough', responses: 'enforce', cache: true }),
          request: UNDOCUMENTED_BY_PORTICO,
        },
        { ...hpm, request: UNDOCUMENTED },
      ],
    },
  ];
}

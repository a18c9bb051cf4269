import type { PageSize } from '../pages.ts';
import { haproxy } from '../peers/haproxy.ts';
import { nginx } from '../peers/nginx.ts';
import { nodePeer } from '../peers/node-peer.ts';
import { portico } from '../peers/portico.ts';
import { prism } from '../peers/prism.ts';
import {
  PLAIN,
  FETCHED,
  keyed,
  UNDOCUMENTED,
  UNDOCUMENTED_BY_PORTICO,
  STORED,
  VALIDATED,
  VALIDATED_UNDOCUMENTED,
} from './requests.ts';
import type { Effort } from './effort.ts';
import type { BenchRequest, Entry, Rounds, Scenario } from './scenario.ts';

const proxy: Entry = { peer: nodePeer('http-proxy-middleware', 'express + http-proxy-middleware'), request: PLAIN };
const fastify: Entry = { peer: nodePeer('fastify-http-proxy', '@fastify/http-proxy'), request: PLAIN };
const validator: Entry = {
  peer: nodePeer('express-openapi-validator', 'express-openapi-validator + http-proxy-middleware'),
  request: PLAIN,
  usualPerSecond: 2500,
};
const prismProxy: Entry = {
  peer: prism(),
  request: PLAIN,
  usualPerSecond: 800,
  slow: { requests: 8000, reason: 'it serves about 800 requests per second, so the full warm-up would take 25 s' },
};

function fetching(responses: 'enforce' | 'report', request: BenchRequest = VALIDATED): Entry {
  return { peer: portico({ label: responses, responses, cache: false }), request };
}

const unchecked: Entry = {
  peer: portico({ label: 'responses off', responses: 'off', cache: false }),
  request: FETCHED,
};

/**
 * Returns scenarios in which each request causes the page to be fetched. Servers that support validation validate each
 * response.
 */
export function missScenarios({ main, side }: Effort): Scenario[] {
  const base = { size: '29k', connections: 32, rounds: main, usualPerSecond: 9000 } as const;
  return [
    {
      ...base,
      id: 'miss-distinct',
      title: 'Miss, all bodies distinct, 29 kB, 32 connections',
      upstream: 'stamped',
      entries: [
        fetching('enforce'),
        proxy,
        fetching('report'),
        unchecked,
        fastify,
        validator,
        prismProxy,
        { peer: nginx('pass'), request: PLAIN, usualPerSecond: 25_000 },
        { peer: haproxy(), request: PLAIN, usualPerSecond: 25_000 },
      ],
    },
    {
      ...base,
      id: 'miss-undocumented',
      title: 'Miss, all bodies distinct, two undocumented fields, 29 kB, 32 connections',
      upstream: 'undocumented',
      entries: [fetching('enforce', VALIDATED_UNDOCUMENTED), proxy, fetching('report', VALIDATED_UNDOCUMENTED)],
    },
    bySize('2k', side, 14_000),
    bySize('200k', side, 2500),
    {
      ...base,
      id: 'miss-same',
      title: 'Miss, identical bodies, 29 kB, 32 connections',
      upstream: 'same',
      entries: [fetching('enforce'), proxy, fetching('report')],
    },
    {
      ...base,
      rounds: side,
      id: 'miss-gzip',
      title: 'Miss, the upstream sends gzip, identical bodies, 29 kB, 32 connections',
      upstream: 'gzip',
      entries: [fetching('enforce'), proxy],
    },
    {
      ...base,
      id: 'passthrough',
      title: 'Passthrough of an undocumented path, 29 kB, 32 connections',
      upstream: 'stamped',
      entries: [
        {
          peer: portico({ label: 'passthrough', responses: 'enforce', cache: true }),
          request: UNDOCUMENTED_BY_PORTICO,
        },
        { ...proxy, request: UNDOCUMENTED },
      ],
    },
    {
      ...base,
      id: 'miss-stored',
      title: 'Miss, every target new, validated and stored, 2 kB, 32 connections',
      size: '2k',
      upstream: 'stamped',
      usualPerSecond: 11_000,
      entries: [
        { peer: portico({ label: 'stored', responses: 'enforce', cache: true }), request: keyed(STORED, 'fresh') },
        { peer: nginx('cache'), request: keyed(PLAIN, 'fresh') },
      ],
    },
  ];
}

function bySize(size: PageSize, rounds: Rounds, usualPerSecond: number): Scenario {
  return {
    id: `miss-distinct-${size}`,
    title: `Miss, all bodies distinct, ${size.replace('k', ' kB')}, 32 connections`,
    size,
    upstream: 'stamped',
    connections: 32,
    rounds,
    usualPerSecond,
    entries: [fetching('enforce'), proxy],
  };
}

import { nginx } from '../peers/nginx.ts';
import { portico } from '../peers/portico.ts';
import { PLAIN, HIT, keyed } from './requests.ts';
import type { Effort } from './effort.ts';
import type { Entry, Scenario } from './scenario.ts';

/**
 * A cache budget with room for all pages in the largest row. With a smaller budget, requests in that row would miss.
 */
const MAX_BYTES = 2 ** 30;

/**
 * Returns scenarios with different numbers of stored responses. All of the responses are requested before the rounds.
 * Each number is measured in its own process, because a process that stores all pages would not show the cost of a
 * small cache. nginx runs without its open-file cache, which would need one file descriptor per page. Many systems do
 * not allow that many.
 */
export function keyScenarios({ main, keys }: Effort): Scenario[] {
  const most = Math.max(...keys);
  return [
    {
      id: 'keys',
      title: 'Cache hit by the number of distinct keys, 2 kB, 32 connections',
      size: '2k',
      upstream: 'same',
      connections: 32,
      rounds: main,
      usualPerSecond: 45_000,
      entries: [
        ...keys.map((count): Entry => {
          const label = `hit, ${keysText(count)}`;
          const peer = portico({ label, responses: 'enforce', cache: true, maxBytes: MAX_BYTES });
          return { peer, request: keyed(HIT, count) };
        }),
        ...[1, most].map((count): Entry => ({
          peer: nginx('cache', { note: keysText(count) }),
          request: keyed(PLAIN, count),
        })),
      ],
    },
  ];
}

function keysText(count: number): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? 'key' : 'keys'}`;
}

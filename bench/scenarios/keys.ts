import { nginx } from '../peers/nginx.ts';
import { portico } from '../peers/portico.ts';
import { ASKED, HIT, keyed } from './asked.ts';
import type { Effort } from './effort.ts';
import type { Entry, Scenario } from './scenario.ts';

/** Enough for all pages of the largest row; with less, the row would be one of misses. */
const MAX_BYTES = 2 ** 30;

/**
 * Kept pages by how many there are; all of them are met once before the rounds. Each number has a process of its own: one
 * that keeps them all and is asked for a few would show near ones in a large memory, not what a small one costs.
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
      entries: [
        ...keys.map((count): Entry => {
          const label = `hit, ${named(count)}`;
          const peer = portico({ label, responses: 'enforce', cache: true, maxBytes: MAX_BYTES });
          return { peer, asked: keyed(HIT, count) };
        }),
        ...[1, most].map((count): Entry => ({ peer: nginx('cache', named(count)), asked: keyed(ASKED, count) })),
      ],
    },
  ];
}

function named(count: number): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? 'key' : 'keys'}`;
}

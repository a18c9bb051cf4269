import { nginx } from '../peers/nginx.ts';
import { portico } from '../peers/portico.ts';
import { ASKED, HIT, keyed } from './asked.ts';
import type { Effort } from './effort.ts';
import type { Scenario } from './scenario.ts';

/** Kept pages by how many there are; all of them are met once before the rounds. */
export function keyScenarios({ side, keys }: Effort): Scenario[] {
  return keys.map((count): Scenario => {
    const label = `hit, ${count.toLocaleString('en-US')} keys`;
    return {
      id: `keys-${count}`,
      title: `Cache hit, ${count.toLocaleString('en-US')} distinct keys, 2 kB, 32 connections`,
      size: '2k',
      upstream: 'same',
      connections: 32,
      rounds: side,
      entries: [
        { peer: portico({ label, responses: 'enforce', cache: true, maxBytes: 2 ** 30 }), asked: keyed(HIT, count) },
        { peer: nginx('cache'), asked: keyed(ASKED, count) },
      ],
    };
  });
}

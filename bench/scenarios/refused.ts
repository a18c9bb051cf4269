import { portico } from '../peers/portico.ts';
import { REFUSED } from './requests.ts';
import type { Effort } from './effort.ts';
import type { Scenario } from './scenario.ts';

/** Returns scenarios with requests that Portico refuses without sending them to the upstream. */
export function refusedScenarios({ side }: Effort): Scenario[] {
  return [
    {
      id: 'refused',
      title: 'Refused by Portico, 32 connections',
      size: '29k',
      upstream: 'same',
      connections: 32,
      rounds: side,
      usualPerSecond: 9000,
      entries: REFUSED.map((request) => ({
        peer: portico({ label: request.why, responses: 'enforce', cache: true }),
        request,
      })),
    },
  ];
}

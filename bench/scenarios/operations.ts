import { operationCount } from '../contract-folder.ts';
import { portico } from '../peers/portico.ts';
import { HIT } from './requests.ts';
import type { Effort } from './effort.ts';
import type { Entry, Scenario } from './scenario.ts';

const MANY = 500;

/**
 * Returns scenarios that request a stored response, once with the unchanged contract and once with a contract that has
 * many more operations.
 */
export function operationScenarios({ main }: Effort): Scenario[] {
  return [
    {
      id: 'operations',
      title: 'Cache hit by the number of operations in the contract, 29 kB, 32 connections',
      size: '29k',
      upstream: 'same',
      connections: 32,
      rounds: main,
      usualPerSecond: 45_000,
      entries: [operationCount(), MANY].map((operations): Entry => {
        const label = `hit, ${operations} operations`;
        return { peer: portico({ responses: 'enforce', cache: true, label, operations }), request: HIT };
      }),
    },
  ];
}

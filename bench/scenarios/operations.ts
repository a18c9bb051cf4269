import { portico } from '../peers/portico.ts';
import { HIT } from './asked.ts';
import type { Effort } from './effort.ts';
import type { Scenario } from './scenario.ts';

/** A kept page under the contract as it is, and under one with many more operations. */
export function operationScenarios({ side }: Effort): Scenario[] {
  const base = { responses: 'enforce', cache: true } as const;
  return [
    {
      id: 'operations',
      title: 'Cache hit by the number of operations in the contract, 29 kB, 32 connections',
      size: '29k',
      upstream: 'same',
      connections: 32,
      rounds: side,
      entries: [
        { peer: portico({ ...base, label: 'the contract as it is' }), asked: HIT },
        { peer: portico({ ...base, label: '500 operations', operations: 500 }), asked: HIT },
      ],
    },
  ];
}

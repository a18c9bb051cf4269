import { portico, type PorticoVariant } from '../peers/portico.ts';
import {
  HIT,
  HIT_GZIP,
  HIT_REVALIDATED,
  keyed,
  REFUSED,
  STORED,
  UNDOCUMENTED_BY_PORTICO,
  VALIDATED,
  VALIDATED_UNDOCUMENTED,
} from './requests.ts';
import type { BenchRequest, Rounds, Scenario } from './scenario.ts';

/** The ids of the two rows in each compared scenario. */
export const SIDES = { before: 'portico-before', after: 'portico-after' } as const;

/**
 * Returns the scenarios that compare two checkouts. The first entry is the other ref; the second is the working tree.
 */
export function comparedScenarios(rounds: Rounds, otherCheckout: string): readonly Scenario[] {
  const scenario = (
    id: string,
    title: string,
    upstream: Scenario['upstream'],
    request: BenchRequest,
    variant: Pick<PorticoVariant, 'cache'>,
    size: Scenario['size'] = '29k',
  ): Scenario => ({
    id,
    title,
    size,
    usualPerSecond: /^(?:hit|not)/.test(id) ? 45_000 : 9000,
    upstream,
    connections: 32,
    rounds,
    entries: [
      { peer: portico({ ...variant, label: 'before', responses: 'enforce', checkout: otherCheckout }), request },
      { peer: portico({ ...variant, label: 'after', responses: 'enforce' }), request },
    ],
  });
  const caching = { cache: true };
  return [
    scenario('hit', 'hit', 'same', HIT, caching),
    scenario('not-modified', '304', 'same', HIT_REVALIDATED, caching),
    scenario('hit-gzip', 'hit, gzip', 'same', HIT_GZIP, caching),
    scenario('miss-distinct', 'miss, distinct bodies', 'stamped', VALIDATED, { cache: false }),
    scenario('miss-undocumented', 'miss, two undocumented fields', 'undocumented', VALIDATED_UNDOCUMENTED, {
      cache: false,
    }),
    scenario('miss-stored', 'miss, new target, stored, 2 kB', 'stamped', keyed(STORED, 'fresh'), caching, '2k'),
    scenario('miss-same', 'miss, identical bodies', 'same', VALIDATED, { cache: false }),
    scenario('passthrough', 'passthrough', 'stamped', UNDOCUMENTED_BY_PORTICO, caching),
    ...REFUSED.slice(0, 1).map((request) => scenario('refused', '401', 'same', request, caching)),
  ];
}

import { portico, type PorticoVariant } from '../peers/portico.ts';
import { HIT, HIT_AGAIN, HIT_GZIP, PASSED_BY_PORTICO, REFUSED, VALIDATED } from './asked.ts';
import type { Asked, Rounds, Scenario } from './scenario.ts';

/** The ids of the two rows of each compared scenario. */
export const SIDES = { before: 'portico-before', after: 'portico-after' } as const;

/** The paths that two checkouts are compared on; the first entry is the other ref, the second the working tree. */
export function comparedScenarios(rounds: Rounds, otherCheckout: string): readonly Scenario[] {
  const scenario = (
    id: string,
    title: string,
    upstream: Scenario['upstream'],
    asked: Asked,
    variant: Pick<PorticoVariant, 'cache'>,
  ): Scenario => ({
    id,
    title,
    size: '29k',
    upstream,
    connections: 32,
    rounds,
    entries: [
      { peer: portico({ ...variant, label: 'before', responses: 'enforce', checkout: otherCheckout }), asked },
      { peer: portico({ ...variant, label: 'after', responses: 'enforce' }), asked },
    ],
  });
  const keeping = { cache: true };
  return [
    scenario('hit', 'hit', 'same', HIT, keeping),
    scenario('not-modified', '304', 'same', HIT_AGAIN, keeping),
    scenario('hit-gzip', 'hit, gzip', 'same', HIT_GZIP, keeping),
    scenario('miss-distinct', 'miss, distinct bodies', 'stamped', VALIDATED, { cache: false }),
    scenario('miss-same', 'miss, identical bodies', 'same', VALIDATED, { cache: false }),
    scenario('passthrough', 'passthrough', 'stamped', PASSED_BY_PORTICO, keeping),
    ...REFUSED.slice(0, 1).map((asked) => scenario('refused', '401', 'same', asked, keeping)),
  ];
}

import type { PrepareContext } from '../../engine/config/settings.ts';
import { type Contract, loadContract } from '../../engine/contract/load-contract.ts';
import { type Fault, StartFault } from '../../engine/model/fault.ts';
import type { Operation } from '../../engine/model/operation.ts';
import type { ShadowOptions } from './options.ts';

// The limit is high enough that the shadow contract's violations are found even on a page with many known violations.
const MAX_COLLECTED = 1000;

/** Loads the shadow contract. If loading fails, throws a StartFault whose messages name the shadow contract. */
export function loadShadow({ options, settings }: PrepareContext<ShadowOptions>): Contract {
  const { contract } = settings;
  try {
    const { folder = contract.folder, overlays } = options;
    return loadContract({
      ...contract,
      ...(folder !== undefined && { folder }),
      overlays,
      maxCollected: MAX_COLLECTED,
    });
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    throw new StartFault(
      error.faults.map(({ message, ...fault }) => Object.assign(fault, { message: `the shadow contract: ${message}` })),
    );
  }
}

/**
 * Returns warnings about a shadow contract: overlay targets that match nothing, and changes that reports cannot show.
 */
export function shadowWarnings(
  live: Pick<Contract, 'operations'>,
  shadow: Contract,
  { source, pointer }: Pick<Fault, 'source' | 'pointer'>,
): readonly Fault[] {
  const known = new Map(live.operations.map((operation) => [nameOf(operation), operation]));
  const changed = shadow.operations.flatMap((next) => {
    const operation = known.get(nameOf(next));
    if (operation === undefined) return [];
    const names = Object.entries(NOT_COMPARED).flatMap(([name, of]) => (same(of(operation), of(next)) ? [] : [name]));
    return names.length === 0 ? [] : [`${names.join(', ')} of ${next.id}`];
  });
  return [
    ...shadow.warnings.map((warning) => ({ ...warning, message: `the shadow contract: ${warning.message}` })),
    ...changed.map((what) => ({
      source,
      pointer,
      message: `the shadow contract changes ${what}, which reports will not show`,
    })),
  ];
}

/**
 * The operation properties that are ignored when traffic is checked against the shadow contract, keyed by their names
 * in the document.
 */
const NOT_COMPARED = {
  'x-requires': ({ requires }: Operation) => requires,
  'x-credential': ({ needsCredential }: Operation) => needsCredential,
  'x-paging': ({ paging }: Operation) => paging,
  'x-request-rules': ({ requestRules }: Operation) => requestRules,
} as const;

const nameOf = ({ method, path }: Operation) => `${method} ${path}`;
const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

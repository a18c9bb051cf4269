import type { Place } from '../config/settings.ts';
import type { Contract } from '../contract/contract.ts';
import type { Fault } from '../model/fault.ts';
import type { Operation } from '../model/operation.ts';

/** What of an operation no traffic is compared by, by the name that it has in the document. */
const NOT_COMPARED = {
  'x-requires': ({ requires }: Operation) => requires,
  'x-credential': ({ needsCredential }: Operation) => needsCredential,
  'x-paging': ({ paging }: Operation) => paging,
  'x-request-rules': ({ requestRules }: Operation) => requestRules,
} as const;

/** What is odd about a candidate and no reason not to start: targets that select nothing, and changes that no report will show. */
export function candidateWarnings(
  live: Contract,
  candidate: Contract | undefined,
  { source, pointer }: Place,
): Fault[] {
  if (candidate === undefined) return [];
  const known = new Map(live.operations.map((operation) => [nameOf(operation), operation]));
  const changed = candidate.operations.flatMap((next) => {
    const operation = known.get(nameOf(next));
    if (operation === undefined) return [];
    const names = Object.entries(NOT_COMPARED).flatMap(([name, of]) => (same(of(operation), of(next)) ? [] : [name]));
    return names.length === 0 ? [] : [`${names.join(', ')} of ${next.id}`];
  });
  return [
    ...candidate.warnings.map((warning) => ({ ...warning, message: `the candidate contract: ${warning.message}` })),
    ...changed.map((what) => ({
      source,
      pointer,
      message: `the candidate changes ${what}, which traffic is not compared by`,
    })),
  ];
}

const nameOf = ({ method, path }: Operation) => `${method} ${path}`;
const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

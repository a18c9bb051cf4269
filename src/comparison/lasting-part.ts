import type { Difference, PairResult } from './comparator.ts';

/**
 * Returns the second result with only those differences that the first one has, too. The others were races. If a server is
 * compared with itself, values that differed only the first time are what is to be measured, and count as well.
 */
export function lastingPart(first: PairResult, second: PairResult, isSelf = false): PairResult {
  const known = new Set(first.differences.map(keyOf));
  const lasting = second.differences.filter((one) => known.has(keyOf(one)) || one.mutedBy !== undefined);
  const kept = new Set(lasting.map(keyOf));
  const measured = isSelf ? first.differences.filter((one) => one.kind === 'value' && !kept.has(keyOf(one))) : [];
  const differences = [...lasting, ...measured];
  const isDifferent = differences.some(({ mutedBy }) => mutedBy === undefined);
  return {
    ...second,
    differences,
    outcome: isDifferent ? 'different' : differences.length > 0 ? 'muted' : 'equal',
    accept: () => second.accept(differences),
  };
}

const keyOf = ({ kind, place }: Difference) => `${kind} ${place.location} ${place.at}`;

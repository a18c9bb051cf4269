import type { Difference, PairResult } from './comparator.ts';

/** Returns the second result with only those differences that the first one has, too. The others were races. */
export function lastingPart(first: PairResult, second: PairResult): PairResult {
  const known = new Set(first.differences.map(keyOf));
  const differences = second.differences.filter((one) => known.has(keyOf(one)) || one.mutedBy !== undefined);
  const isDifferent = differences.some(({ mutedBy }) => mutedBy === undefined);
  if (isDifferent && differences.length === second.differences.length) return second;
  return {
    ...second,
    differences,
    outcome: isDifferent ? 'different' : differences.length > 0 ? 'muted' : 'equal',
    accept: () => second.accept(differences),
  };
}

const keyOf = ({ kind, place }: Difference) => `${kind} ${place.location} ${place.at}`;

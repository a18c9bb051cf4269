import { CHECK_NAMES, type CheckName } from '../model/checks.ts';
import type { CheckCounts, LedgerQuery, LedgerSnapshot, OperationTraffic } from '../model/ledger-entry.ts';

/** Returns the snapshot of an empty ledger. */
export function emptySnapshot({ since }: Pick<LedgerQuery, 'since'>, takenAt: number): LedgerSnapshot {
  return { takenAt, since, releases: [], entries: [], traffic: [], dropped: 0 };
}

/** The name that queries use for all requests outside the contract. */
const UNDOCUMENTED_OPERATION = 'undocumented';

/** Converts the operation in a query to the form used in entries, in which undocumented paths have no operation. */
export function operationOf(wanted: string): string | undefined {
  return wanted === UNDOCUMENTED_OPERATION ? undefined : wanted;
}

/** Returns the counts of every check that has at least one outcome. */
export function checksOf(count: (name: CheckName, outcome: keyof CheckCounts) => number): OperationTraffic['checks'] {
  const all = CHECK_NAMES.map((name) => {
    const counts: CheckCounts = {
      passed: count(name, 'passed'),
      reported: count(name, 'reported'),
      refused: count(name, 'refused'),
    };
    return [name, counts] as const;
  });
  return Object.fromEntries(all.filter(([, { passed, reported, refused }]) => passed + reported + refused > 0));
}

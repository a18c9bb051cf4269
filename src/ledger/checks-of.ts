import { CHECK_NAMES, type CheckName } from '../model/checks.ts';
import type { CheckCounts, OperationTraffic } from '../model/ledger-snapshot.ts';

/** The counts of the checks that said anything. */
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

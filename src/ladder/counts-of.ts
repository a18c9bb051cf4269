import type { CheckName } from '../model/checks.ts';
import type { CheckCounts, LedgerSnapshot } from '../model/ledger-snapshot.ts';

/** What a check of an operation said in the period of a snapshot, over all release labels. */
export function countsOf(snapshot: Pick<LedgerSnapshot, 'traffic'>, operation: string, check: CheckName): CheckCounts {
  let [passed, reported, refused] = [0, 0, 0];
  for (const traffic of snapshot.traffic) {
    const counts = traffic.operation === operation ? traffic.checks[check] : undefined;
    if (counts === undefined) continue;
    passed += counts.passed;
    reported += counts.reported;
    refused += counts.refused;
  }
  return { passed, reported, refused };
}

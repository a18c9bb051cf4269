import type { LadderStep, OperationLevels } from '../../../../src/features/levels/ladder/ladder-step.ts';
import type { CheckCounts, LedgerSnapshot } from '../../../../src/engine/model/ledger-entry.ts';
import type { JudgedName } from '../../../../src/engine/model/checks.ts';
import { MODES } from '../../../../src/engine/model/modes.ts';

/** The time shown by the test clocks. */
export const NOW = Date.UTC(2026, 4, 11, 12);

/** Returns the configured and effective levels of an operation in `staging` mode. */
export function levelsOf(operation: string, more: Partial<OperationLevels> = {}): OperationLevels {
  const { checks } = MODES.staging;
  return { operation, configured: checks, effective: checks, translation: 'enforce', explicit: [], ...more };
}

/** Returns a ladder step with default values for the members that are not given. */
export function stepWith(more: Partial<LadderStep> = {}): LadderStep {
  return {
    operation: 'listIdeas',
    check: 'responses',
    move: 'demoted',
    at: NOW - 60_000,
    judged: 40,
    failed: 20,
    windowSeconds: 60,
    ...more,
  };
}

/** Returns a seven-day snapshot with the given check results. */
export function snapshotOf(
  ...traffic: readonly (readonly [operation: string, check: JudgedName, counts: Partial<CheckCounts>])[]
): LedgerSnapshot {
  return {
    takenAt: NOW,
    since: NOW - 7 * 86_400_000,
    releases: [],
    entries: [],
    statistics: [],
    dropped: 0,
    traffic: traffic.map(([operation, check, counts]) => ({
      operation,
      release: 'one',
      requests: 1,
      checks: { [check]: { passed: 0, reported: 0, refused: 0, ...counts } },
    })),
  };
}

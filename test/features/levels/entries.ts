import { withSchemaDefaults } from '../../../src/engine/config/configurable.ts';
import { type LevelsOptions, options } from '../../../src/features/levels/options.ts';
import type { PlainObject } from '../../../src/lib/plain-object.ts';
import type { OperationLevels } from '../../../src/features/levels/ladder-rows.ts';
import type { LadderEntry, OverrideEntry } from '../../../src/features/levels/level-entry.ts';
import type { CheckCounts, LedgerSnapshot } from '../../../src/engine/model/ledger-entry.ts';
import type { JudgedName } from '../../../src/engine/model/checks.ts';
import { MODES } from '../../../src/engine/model/modes.ts';

/** The time shown by the test clocks. */
export const NOW = Date.UTC(2026, 4, 11, 12);

/** Returns the configured and effective levels of an operation in `staging` mode. */
export function levelsOf(operation: string, more: Partial<OperationLevels> = {}): OperationLevels {
  const { checks } = MODES.staging;
  return { operation, configured: checks, effective: checks, translation: 'enforce', explicit: [], ...more };
}

/** Returns a decision of the ladder with default values for the members that are not given. */
export function decisionWith(more: Partial<LadderEntry> = {}): LadderEntry {
  return {
    source: 'ladder',
    operation: 'listIdeas',
    kind: 'level',
    check: 'responses',
    move: 'demoted',
    since: NOW - 60_000,
    judged: 40,
    failed: 20,
    windowSeconds: 60,
    contract: 'v',
    ...more,
  };
}

/**
 * Returns an override with default values for the members that are not given. By default, it disables `listIdeas` for
 * an hour.
 */
export function overrideWith(more: Partial<OverrideEntry> & Record<string, unknown> = {}): OverrideEntry {
  const common = { source: 'operator', operation: 'listIdeas', reason: 'INC-17', by: 'alice', from: '127.0.0.1' };
  return { kind: 'disable', ...common, since: NOW, until: NOW + 3_600_000, ...more } as OverrideEntry;
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

/** Returns the options of the levels with all defaults. */
export function defaultOptions(): LevelsOptions {
  return withSchemaDefaults(options as unknown as PlainObject, undefined) as LevelsOptions;
}

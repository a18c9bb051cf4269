import { decisionWords } from './in-force.ts';
import type { LadderRow } from './ladder-rows.ts';
import type { LedgerSnapshot } from '../../engine/model/ledger-entry.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { textTable } from '../../lib/text-table.ts';

const COLUMNS = [
  'operation',
  'check',
  'configured',
  'effective',
  'clean',
  'would refuse',
  'refused',
  'next step',
  'moved',
];
/** The indexes of the columns that contain numbers. */
const NUMERIC: ReadonlySet<number> = new Set([4, 5, 6]);

/** Formats the ladder as lines of a terminal table. */
export function ladderTable(rows: readonly LadderRow[]): readonly string[] {
  const cells = rows.map(({ operation, check, configured, effective, counts, next, step }) => [
    operation,
    check,
    configured,
    effective,
    ...[counts.passed, counts.reported, counts.refused].map((value) => value.toLocaleString('en-US')),
    next.text,
    step === undefined ? '' : decisionWords(step),
  ]);
  return textTable([COLUMNS, ...cells], NUMERIC);
}

/** Formats the ladder as JSON, with times in ISO 8601 format. */
export function ladderJson(rows: readonly LadderRow[], { since, takenAt }: LedgerSnapshot, contract: string): string {
  const written = rows.map(({ operation, check, configured, effective, counts, changes, next, step }) => ({
    operation,
    check,
    configured,
    effective,
    clean: counts.passed,
    wouldHaveRefused: counts.reported,
    refused: counts.refused,
    ...(check === 'errors' && { statusChanges: changes }),
    next: next.kind,
    why: next.text,
    moved: step === undefined ? null : { move: step.move, at: instant(step.since), why: decisionWords(step) },
  }));
  const head = { takenAt: instant(takenAt), since: instant(since), contract };
  return jsonDocument('ladder', { ...head, rows: written });
}

const instant = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());

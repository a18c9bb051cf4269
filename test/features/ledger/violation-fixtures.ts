import type { ViolationRow } from '../../../src/features/ledger/violation-rows.ts';
import type { LedgerEntry } from '../../../src/engine/model/ledger-entry.ts';

/** Creates a ledger entry with only the members that matter here. */
export function entryWith(parts: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    fingerprint: '0123456789abcdef',
    operation: 'listQuestions',
    check: 'responses',
    direction: 'response',
    category: 'type',
    location: 'body',
    status: 200,
    keyword: 'type',
    schemaPath: 'resources/question.schema.json#/type',
    at: '/list/*/title',
    message: '/list/*/title must be string',
    suggestion: undefined,
    count: 1,
    firstSeenAt: 1_000_000,
    lastSeenAt: 2_000_000,
    callers: 1,
    releases: { unlabelled: 1 },
    samples: [],
    ...parts,
  };
}

/** Creates a row for the violation list. */
export function rowWith({
  accepted,
  ...parts
}: Partial<LedgerEntry> & { accepted?: { expired: boolean } } = {}): ViolationRow {
  const { samples: _samples, ...entry } = entryWith(parts);
  const known = { fingerprint: entry.fingerprint, reason: 'r', owner: 'o', expires: undefined, summary: undefined };
  return { ...entry, requests: 0, share: undefined, accepted: accepted && { ...known, ...accepted } };
}

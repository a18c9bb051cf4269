import type { AcceptedViolation, LedgerEntry, LedgerSnapshot } from '../../../src/engine/model/ledger-entry.ts';
import { type RenderOptions, type Report, type ReportScope, toReport } from '../../../src/workbench/report/report.ts';

/** The time of the test snapshots. */
export const TAKEN_AT = Date.UTC(2026, 4, 4, 10, 30);

/** Text with all characters that could end a quotation or begin markup in any format. */
export const HOSTILE =
  '<script>alert(1)</script> | a\nb\r\u001b[31mred ]]> "q" \'s\' & `c` [x](http://x.example) @team #1 \u0000\u202e\ud800';

/** Creates a ledger entry with default values for the fields that are not given. */
export function entryWith(parts: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    fingerprint: '00000000000000a1',
    operation: 'listQuestions',
    check: 'responses',
    direction: 'response',
    category: 'missing',
    location: 'body',
    keyword: 'required',
    schemaPath: 'resources/node.schema.json#/required',
    status: 200,
    at: '/list/*/title',
    message: '/list/*/title is missing',
    suggestion: undefined,
    count: 5,
    firstSeenAt: TAKEN_AT - 86_400_000,
    lastSeenAt: TAKEN_AT - 60_000,
    callers: 2,
    releases: { '1.0': 5 },
    samples: [{ requestId: 'req-1', seenAt: TAKEN_AT - 60_000, found: 'a number' }],
    ...parts,
  };
}

/** Creates a ledger entry in which every string from a request or response is hostile. */
export const hostileEntry = (parts: Partial<LedgerEntry> = {}): LedgerEntry =>
  entryWith({
    operation: HOSTILE,
    keyword: HOSTILE,
    schemaPath: HOSTILE,
    at: HOSTILE,
    message: HOSTILE,
    suggestion: HOSTILE,
    releases: { [HOSTILE]: 5 },
    samples: [{ requestId: HOSTILE, seenAt: TAKEN_AT, found: HOSTILE }],
    ...parts,
  });

/** Creates a snapshot in which every operation named in the entries has 100 requests. */
export function snapshotWith(entries: readonly LedgerEntry[], parts: Partial<LedgerSnapshot> = {}): LedgerSnapshot {
  const operations = [...new Set(entries.map(({ operation }) => operation))];
  return {
    takenAt: TAKEN_AT,
    since: undefined,
    releases: ['1.0'],
    entries,
    traffic: operations.map((operation) => ({
      operation,
      release: '1.0',
      requests: 100,
      checks: { responses: { passed: 95, reported: 5, refused: 0 } },
    })),
    statistics: [],
    dropped: 0,
    ...parts,
  };
}

/** Creates an acceptance with default values for the fields that are not given. */
export const acceptedWith = (parts: Partial<AcceptedViolation> = {}): AcceptedViolation => ({
  fingerprint: '00000000000000a1',
  reason: 'known since 2019',
  owner: 'team q',
  expires: undefined,
  summary: undefined,
  ...parts,
});

/** Creates a report from a snapshot and a baseline. */
export function reportOf(
  snapshot: LedgerSnapshot,
  accepted: readonly AcceptedViolation[] = [],
  scope: Partial<ReportScope> = {},
): Report {
  return toReport(snapshot, {
    scope: { since: undefined, operation: undefined, release: undefined, ...scope },
    baseline: { accepted },
    placeOf: ({ schemaPath }) => ({
      file: `schemas/${schemaPath.split('#')[0]}`,
      pointer: schemaPath.split('#')[1] ?? '',
      line: 7,
      schema: { target: '$.components.schemas.Node', value: { required: ['id', 'title'] } },
    }),
  });
}

/** The rendering options that the tests use. */
export const PLAIN: RenderOptions = { version: '0.1.0', columns: 80, colors: false };

/** A report in which a violation in each state contains hostile strings, as do a gateway's name and release. */
export const HOSTILE_REPORT: Report = reportOf(
  snapshotWith(
    [
      hostileEntry(),
      hostileEntry({ fingerprint: '00000000000000a2', category: 'type' }),
      hostileEntry({ fingerprint: '00000000000000a3', category: 'undocumented' }),
      hostileEntry({ fingerprint: '00000000000000a4', candidate: 'newly-refused' }),
    ],
    {
      replicas: [{ replica: HOSTILE, release: HOSTILE, lastSeenAt: TAKEN_AT, requests: 1, violations: 1 }],
      lostAt: TAKEN_AT,
    },
  ),
  [
    acceptedWith({ fingerprint: '00000000000000a2', reason: HOSTILE, owner: HOSTILE, summary: HOSTILE }),
    acceptedWith({ fingerprint: '00000000000000a3', reason: HOSTILE, owner: HOSTILE, expires: '2020-01-01' }),
    acceptedWith({ fingerprint: '00000000000000ff', reason: HOSTILE, owner: HOSTILE, summary: HOSTILE }),
  ],
);

import type { LedgerEntry } from '../model/ledger-entry.ts';
import { plainText } from './plain-text.ts';
import type { RenderReport } from './render-options.ts';
import { type Finding, findingsOf, type Report } from './report.ts';

/** The version of the JSON report; incompatible changes increase it. */
export const REPORT_VERSION = 1;

/** The id of the JSON Schema of the report. */
export const REPORT_SCHEMA = 'https://portico.invalid/docs/report.schema.json';

/** Renders a report as JSON; unknown values are null, instants are ISO 8601 in UTC. */
export const renderJson: RenderReport = (report, { version }) => {
  const findings = findingsOf(report);
  const countOf = (state: Finding['baselineState']) =>
    findings.filter(({ baselineState }) => baselineState === state).length;
  return jsonText({
    $schema: REPORT_SCHEMA,
    version: REPORT_VERSION,
    kind: 'report',
    portico: version,
    generatedAt: iso(report.takenAt),
    scope: {
      since: report.scope.since === undefined ? null : iso(report.scope.since),
      operation: report.scope.operation ?? null,
      release: report.scope.release ?? null,
    },
    releases: report.releases,
    requests: report.requests,
    dropped: report.dropped,
    summary: {
      violations: findings.length,
      new: countOf('new'),
      expired: countOf('expired'),
      accepted: countOf('accepted'),
      categories: Object.fromEntries(report.groups.map(({ category, findings: { length } }) => [category, length])),
    },
    violations: findings.map(toJsonFinding),
    candidate: report.candidates.map(toJsonFinding),
    expired: report.expired.map(toJsonAcceptance),
    noLongerSeen: report.noLongerSeen.map(toJsonAcceptance),
    traffic: report.traffic.map((one) => ({ ...one, operation: one.operation ?? null })),
  });
};

/** Converts one violation to its form in the JSON formats. */
export function toJsonFinding({ entry, baselineState, accepted, requests, share, place }: Finding) {
  return {
    ...toJsonEntry(entry),
    standing: baselineState,
    accepted: accepted === undefined ? null : toJsonAcceptance(accepted),
    requests,
    share: share ?? null,
    contract: { file: place.file, pointer: place.pointer, line: place.line ?? null },
  };
}

function toJsonEntry(entry: LedgerEntry) {
  return {
    fingerprint: entry.fingerprint,
    operation: entry.operation ?? null,
    check: entry.check,
    direction: entry.direction,
    category: entry.category,
    status: entry.status ?? null,
    location: entry.location,
    at: entry.at,
    keyword: entry.keyword,
    schemaPath: entry.schemaPath,
    message: entry.message,
    suggestion: entry.suggestion ?? null,
    candidate: entry.candidate ?? null,
    count: entry.count,
    firstSeenAt: iso(entry.firstSeenAt),
    lastSeenAt: iso(entry.lastSeenAt),
    callers: entry.callers,
    releases: entry.releases,
    samples: entry.samples.map(({ requestId, seenAt, found }) => ({
      requestId,
      seenAt: iso(seenAt),
      found: found ?? null,
    })),
  };
}

const toJsonAcceptance = ({ fingerprint, reason, owner, expires, summary }: Report['expired'][number]) => ({
  fingerprint,
  reason,
  owner,
  expires: expires ?? null,
  summary: summary ?? null,
});

const iso = (at: number): string => new Date(at).toISOString();

/** Serializes a value as JSON in which control characters are escaped, so that a terminal can show it safely. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).split('\n').map(plainText).join('\n');
}

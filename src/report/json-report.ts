import type { LedgerEntry } from '../model/ledger-entry.ts';
import { plainText } from './plain-text.ts';
import type { RenderReport } from './render-options.ts';
import { type Finding, findingsOf, type Report } from './report.ts';

/** The shape of the JSON report; a change that readers would notice gets another number. */
export const REPORT_VERSION = 1;

/** The id of the JSON Schema of the report. */
export const REPORT_SCHEMA = 'https://portico.invalid/docs/report.schema.json';

/** A report for programs; what is not known is null, instants are ISO 8601 in UTC. */
export const renderJson: RenderReport = (report, { version }) => {
  const findings = findingsOf(report);
  const counted = (standing: Finding['standing']) => findings.filter((finding) => finding.standing === standing).length;
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
      new: counted('new'),
      expired: counted('expired'),
      accepted: counted('accepted'),
      categories: Object.fromEntries(report.groups.map(({ category, findings: { length } }) => [category, length])),
    },
    violations: findings.map(toJsonFinding),
    candidate: report.candidates.map(toJsonFinding),
    expired: report.expired.map(toJsonAcceptance),
    noLongerSeen: report.noLongerSeen.map(toJsonAcceptance),
    traffic: report.traffic.map((one) => ({ ...one, operation: one.operation ?? null })),
  });
};

/** One violation as the JSON formats write it. */
export function toJsonFinding({ entry, standing, accepted, requests, share, place }: Finding) {
  return {
    ...toJsonEntry(entry),
    standing,
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

/** A value as JSON that can be shown anywhere: what JSON lets through and a terminal acts on is escaped. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).split('\n').map(plainText).join('\n');
}

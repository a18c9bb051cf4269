import { JUDGED_NAMES } from '../../engine/model/checks.ts';
import type { LedgerEntry, LedgerSample, LedgerSnapshot, OperationTraffic } from '../../engine/model/ledger-entry.ts';
import type { ReleaseStatistics } from '../../engine/model/release-statistics.ts';
import { type Violation, VIOLATION_CATEGORIES } from '../../engine/model/violation.ts';
import { CHANGES, type ComparedFinding, type Comparison } from './comparison.ts';
import { countCauses, groupByCause } from '../../engine/model/causes.ts';
import { plainText } from '../../lib/plain-text.ts';
import { type Finding, findingsOf, type RenderReport, type Report, worstFirst } from './report.ts';

/** The version of the JSON report. It increases with every incompatible change. */
const REPORT_VERSION = 1;

/** The id of the JSON Schema of the report. */
const REPORT_SCHEMA = 'portico:/docs/report.schema.json';

/** Renders a report as JSON. Unknown values are null, and instants are in ISO 8601 format, in UTC. */
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
      ...(report.scope.replica !== undefined && { replica: report.scope.replica }),
    },
    releases: report.releases,
    requests: report.requests,
    dropped: report.dropped,
    summary: {
      violations: findings.length,
      new: countOf('new'),
      expired: countOf('expired'),
      accepted: countOf('accepted'),
      causes: countCauses(findings),
      categories: Object.fromEntries(report.groups.map(({ category, findings: { length } }) => [category, length])),
    },
    violations: groupByCause(findings, (finding) => finding)
      .flatMap(({ first, others }) =>
        [first, ...others].map((finding) => ({ finding, cause: first.entry.fingerprint })),
      )
      .toSorted((a, b) => worstFirst(a.finding, b.finding))
      .map(({ finding, cause }) => Object.assign(toJsonFinding(finding), { cause })),
    candidate: report.shadowDifferences.map(toJsonFinding),
    statusChanges: report.statusChanges.map(toJsonFinding),
    outages: report.outages.map(toJsonFinding),
    expired: report.expired.map(toJsonAcceptance),
    noLongerSeen: report.noLongerSeen.map(toJsonAcceptance),
    traffic: report.traffic.map((one) => ({ ...one, operation: one.operation ?? null })),
    statistics: report.statistics,
    ...(report.replicas && {
      replicas: report.replicas.map((one) => ({ ...one, lastSeenAt: iso(one.lastSeenAt) })),
    }),
    ...(report.lostAt !== undefined && { lostAt: iso(report.lostAt) }),
    ...(report.sections.length > 0 && {
      sections: Object.fromEntries(report.sections.map(({ id, data }) => [id, data])),
    }),
  });
};

/** Renders a comparison as JSON. */
export function renderComparedJson({ before, after, findings }: Comparison): string {
  const changes = CHANGES.map((change) => [
    change,
    findings.filter((one) => one.change === change).map(comparedFinding),
  ]);
  return jsonText({
    $schema: REPORT_SCHEMA,
    version: REPORT_VERSION,
    kind: 'comparison',
    before,
    after,
    ...Object.fromEntries(changes),
  });
}

const comparedFinding = ({ finding, before, after, unasked, reason }: ComparedFinding) =>
  Object.assign(toJsonFinding(finding), {
    before: sideOf(before),
    after: sideOf(after),
    unasked,
    reason: reason ?? null,
  });

const sideOf = (finding: ComparedFinding['before']) =>
  finding === undefined ? null : { count: finding.entry.count, share: finding.share ?? null };

/** Renders one violation as JSON. */
export function renderJsonFinding(finding: Finding): string {
  return jsonText({
    $schema: REPORT_SCHEMA,
    version: REPORT_VERSION,
    kind: 'violation',
    ...toJsonFinding(finding),
  });
}

/** Converts one violation to the form used in all JSON output. */
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

/** Serializes a value as JSON. Control characters are escaped, so that a terminal can safely show the result. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).split('\n').map(plainText).join('\n');
}

const CHECKS: readonly Violation['check'][] = [...JUDGED_NAMES, 'upstream'];
const LOCATIONS: readonly Violation['location'][] = ['path', 'query', 'header', 'body', 'status', 'method'];

/**
 * Parses a JSON report into the snapshot from which it was created. Throws a ReportFault that names the invalid field.
 */
export function parseJsonReport(text: string): LedgerSnapshot {
  const report = membersAt(parsed(text), '');
  if (report['version'] !== REPORT_VERSION || report['kind'] !== 'report')
    throw new ReportFault(
      '/version',
      `is not a report of version ${REPORT_VERSION} (written by portico report --format json)`,
    );
  const scope = membersAt(report['scope'], '/scope');
  return {
    takenAt: timeAt(report, 'generatedAt', ''),
    since: scope['since'] === null ? undefined : timeAt(scope, 'since', '/scope'),
    releases: valuesAt(report, 'releases', '').map((label) => String(label)),
    entries: [
      ...entriesAt(report, 'violations'),
      ...entriesAt(report, 'candidate'),
      // Reports of earlier releases do not have these members: outages were among the violations.
      ...(report['statusChanges'] === undefined ? [] : entriesAt(report, 'statusChanges')),
      ...(report['outages'] === undefined ? [] : entriesAt(report, 'outages')),
    ],
    traffic: valuesAt(report, 'traffic', '').map((one, at) =>
      toTraffic(membersAt(one, `/traffic/${at}`), `/traffic/${at}`),
    ),
    // Reports of earlier versions of Portico have no statistics.
    statistics: (report['statistics'] === undefined ? [] : valuesAt(report, 'statistics', '')).map((one, at) =>
      toStatistics(membersAt(one, `/statistics/${at}`), `/statistics/${at}`),
    ),
    dropped: numberAt(report, 'dropped', ''),
  };
}

function parsed(text: string): unknown {
  const json = parseJson(text);
  if (json === undefined) throw new ReportFault('', 'is not JSON');
  return json;
}

function entriesAt(report: Members, name: string): LedgerEntry[] {
  return valuesAt(report, name, '').map((one, at) => toEntry(membersAt(one, `/${name}/${at}`), `/${name}/${at}`));
}

function toEntry(entry: Members, at: string): LedgerEntry {
  const optional = (name: string) => (entry[name] === null ? undefined : textAt(entry, name, at));
  const candidate = entry['candidate'];
  return {
    fingerprint: textAt(entry, 'fingerprint', at),
    operation: optional('operation'),
    check: oneOfAt(entry, 'check', CHECKS, at),
    direction: oneOfAt(entry, 'direction', ['request', 'response'] as const, at),
    category: oneOfAt(entry, 'category', VIOLATION_CATEGORIES, at),
    status: entry['status'] === null ? undefined : numberAt(entry, 'status', at),
    location: oneOfAt(entry, 'location', LOCATIONS, at),
    at: textAt(entry, 'at', at),
    keyword: textAt(entry, 'keyword', at),
    schemaPath: textAt(entry, 'schemaPath', at),
    message: textAt(entry, 'message', at),
    suggestion: optional('suggestion'),
    ...(candidate !== null && {
      candidate: oneOfAt(entry, 'candidate', ['newly-refused', 'newly-accepted'] as const, at),
    }),
    count: numberAt(entry, 'count', at),
    firstSeenAt: timeAt(entry, 'firstSeenAt', at),
    lastSeenAt: timeAt(entry, 'lastSeenAt', at),
    callers: numberAt(entry, 'callers', at),
    releases: countsAt(entry, 'releases', at),
    samples: valuesAt(entry, 'samples', at).map((sample, index) =>
      toSample(membersAt(sample, `${at}/samples/${index}`), at),
    ),
  };
}

function toSample(sample: Members, at: string): LedgerSample {
  return {
    requestId: textAt(sample, 'requestId', `${at}/samples`),
    seenAt: timeAt(sample, 'seenAt', `${at}/samples`),
    found: sample['found'] === null ? undefined : textAt(sample, 'found', `${at}/samples`),
  };
}

function toTraffic(traffic: Members, at: string): OperationTraffic {
  return {
    operation: traffic['operation'] === null ? undefined : textAt(traffic, 'operation', at),
    release: textAt(traffic, 'release', at),
    requests: numberAt(traffic, 'requests', at),
    checks: membersAt(traffic['checks'], `${at}/checks`),
  };
}

function toStatistics(statistics: Members, at: string): ReleaseStatistics {
  return {
    operation: textAt(statistics, 'operation', at),
    release: textAt(statistics, 'release', at),
    counts: countsAt(statistics, 'counts', at),
  };
}

function countsAt(entry: Members, name: string, at: string): Readonly<Record<string, number>> {
  const counts = membersAt(entry[name], `${at}/${name}`);
  return Object.fromEntries(Object.keys(counts).map((label) => [label, numberAt(counts, label, `${at}/${name}`)]));
}

/** A JSON object whose members have not been checked. */
type Members = Readonly<Record<string, unknown>>;

/** An error about an invalid report. The message names the field and the problem. */
export class ReportFault extends Error {
  override readonly name = 'ReportFault';

  constructor(pointer: string, message: string) {
    super(pointer === '' ? message : `${pointer} ${message}`);
  }
}

/** Returns a value after checking that it is an object. */
function membersAt(value: unknown, at: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new ReportFault(at, 'must be an object');
}

/** Returns a member after checking that it is an array. */
function valuesAt(members: Members, name: string, at: string): readonly unknown[] {
  const value = members[name];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw new ReportFault(`${at}/${name}`, 'must be an array');
}

/** Returns a member after checking that it is a string. */
function textAt(members: Members, name: string, at: string): string {
  const value = members[name];
  if (typeof value === 'string') return value;
  throw new ReportFault(`${at}/${name}`, 'must be a string');
}

/** Returns a member after checking that it is a non-negative number. */
function numberAt(members: Members, name: string, at: string): number {
  const value = members[name];
  if (typeof value === 'number' && value >= 0) return value;
  throw new ReportFault(`${at}/${name}`, 'must be a number of at least 0');
}

/** Returns a member that must be an instant in ISO 8601 format, converted to epoch milliseconds. */
function timeAt(members: Members, name: string, at: string): number {
  const value = Date.parse(textAt(members, name, at));
  if (!Number.isNaN(value)) return value;
  throw new ReportFault(`${at}/${name}`, 'must be an instant in ISO 8601');
}

/** Returns a member after checking that it is one of the given words. */
function oneOfAt<Word extends string>(members: Members, name: string, words: readonly Word[], at: string): Word {
  const value = members[name];
  const word = words.find((one) => one === value);
  if (word !== undefined) return word;
  throw new ReportFault(`${at}/${name}`, `must be one of ${words.join(', ')}`);
}

/** Parses a string as JSON. Returns undefined if it is not valid JSON. A leading byte order mark is ignored. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as unknown;
  } catch {
    return undefined;
  }
}

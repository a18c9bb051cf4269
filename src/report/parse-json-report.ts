import { parseJson } from '../lib/parse-json.ts';
import { CHECK_NAMES } from '../model/checks.ts';
import type { LedgerEntry, LedgerSample } from '../model/ledger-entry.ts';
import type { LedgerSnapshot, OperationTraffic } from '../model/ledger-snapshot.ts';
import { type Violation, VIOLATION_CATEGORIES } from '../model/violation.ts';
import { REPORT_VERSION } from './json-report.ts';

const CHECKS: readonly Violation['check'][] = [...CHECK_NAMES, 'upstream'];
const LOCATIONS: readonly Violation['location'][] = ['path', 'query', 'header', 'body', 'status', 'method'];

/** Reads a JSON report as what it was made from; throws ReportFault with the field that is wrong. */
export function parseJsonReport(text: string): LedgerSnapshot {
  const report = membersAt(parsed(text), '');
  if (report['version'] !== REPORT_VERSION || report['kind'] !== 'report')
    throw new ReportFault(
      '/version',
      `is no report of version ${REPORT_VERSION}, as portico report --format json writes it`,
    );
  const scope = membersAt(report['scope'], '/scope');
  return {
    takenAt: timeAt(report, 'generatedAt', ''),
    since: scope['since'] === null ? undefined : timeAt(scope, 'since', '/scope'),
    releases: valuesAt(report, 'releases', '').map((label) => String(label)),
    entries: [...entriesAt(report, 'violations'), ...entriesAt(report, 'candidate')],
    traffic: valuesAt(report, 'traffic', '').map((one, at) =>
      toTraffic(membersAt(one, `/traffic/${at}`), `/traffic/${at}`),
    ),
    dropped: numberAt(report, 'dropped', ''),
  };
}

function parsed(text: string): unknown {
  const json = parseJson(text);
  if (json === undefined) throw new ReportFault('', 'is no JSON');
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

function countsAt(entry: Members, name: string, at: string): Readonly<Record<string, number>> {
  const counts = membersAt(entry[name], `${at}/${name}`);
  return Object.fromEntries(Object.keys(counts).map((label) => [label, numberAt(counts, label, `${at}/${name}`)]));
}

/** A JSON object whose members are not known yet. */
export type Members = Readonly<Record<string, unknown>>;

/** A report that cannot be read: which field is wrong, and how. */
export class ReportFault extends Error {
  override readonly name = 'ReportFault';

  constructor(pointer: string, message: string) {
    super(pointer === '' ? message : `${pointer} ${message}`);
  }
}

/** A value that must be an object. */
export function membersAt(value: unknown, at: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new ReportFault(at, 'must be an object');
}

/** A member that must be an array. */
export function valuesAt(members: Members, name: string, at: string): readonly unknown[] {
  const value = members[name];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw new ReportFault(`${at}/${name}`, 'must be an array');
}

/** A member that must be text. */
export function textAt(members: Members, name: string, at: string): string {
  const value = members[name];
  if (typeof value === 'string') return value;
  throw new ReportFault(`${at}/${name}`, 'must be text');
}

/** A member that must be a number of 0 or more. */
export function numberAt(members: Members, name: string, at: string): number {
  const value = members[name];
  if (typeof value === 'number' && value >= 0) return value;
  throw new ReportFault(`${at}/${name}`, 'must be a number of 0 or more');
}

/** A member that must be an instant in ISO 8601, as epoch milliseconds. */
export function timeAt(members: Members, name: string, at: string): number {
  const value = Date.parse(textAt(members, name, at));
  if (!Number.isNaN(value)) return value;
  throw new ReportFault(`${at}/${name}`, 'must be an instant in ISO 8601');
}

/** A member that must be one of a few words. */
export function oneOfAt<Word extends string>(members: Members, name: string, words: readonly Word[], at: string): Word {
  const value = members[name];
  const word = words.find((one) => one === value);
  if (word !== undefined) return word;
  throw new ReportFault(`${at}/${name}`, `must be one of ${words.join(', ')}`);
}

import { LEAK } from '../../comparison/difference-violation.ts';
import type { ReportedState } from '../../engine/feature.ts';
import type { ReportSection, ReportTable } from '../../engine/model/report-section.ts';
import { editDocumentInRedis } from '../../engine/sharing/redis/redis-document.ts';
import { usesRedis } from '../../engine/sharing/redis/redis-options.ts';
import { endOfDay } from '../../lib/clock.ts';
import { shareWords } from '../../lib/share-words.ts';
import { LATENCY_BOUNDS } from './mirror-counts.ts';
import { readMirrorFile } from './mirror-file.ts';
import { MIRROR_DOCUMENT, subjectOf } from './mirror-store.ts';
import type { MirrorTotals } from './mirror-totals.ts';
import type { MirrorOptions } from './options.ts';
import {
  type CountRow,
  countRows,
  type OwnerOf,
  type Readiness,
  readinessOf,
  type ShownFinding,
  shownFindings,
  versionRows,
} from './readiness.ts';

/** Returns the section about the readiness of each operation, as a document that can be filed. */
export async function mirrorSections(given: MirrorOptions, about: ReportedState): Promise<readonly ReportSection[]> {
  const totals = await readTotals(given, about);
  const head = { id: 'mirror', title: `Readiness for ${given.label}` };
  if (typeof totals === 'string') return [{ ...head, text: [totals], tables: [], data: null }];
  const { now, operation, settings } = about;
  const accepted = new Map(
    about.accepted.accepted
      .filter(({ expires }) => expires === undefined || now < endOfDay(expires))
      .map((one) => [one.fingerprint, one]),
  );
  const ownerOf: OwnerOf = (fingerprint) => accepted.get(fingerprint)?.owner;
  const isShown = (row: { readonly operation: string }) => operation === undefined || row.operation === operation;
  const operations = readinessOf(totals, ownerOf).filter(isShown);
  const findings = shownFindings(totals, ownerOf).filter(isShown);
  const rows = countRows(totals).filter(isShown);
  const seen = new Set(operations.filter(({ compared }) => compared > 0).map((row) => row.operation));
  const never = about.operations.flatMap(({ id, method }) =>
    method === 'GET' && !seen.has(id) && isShown({ operation: id }) ? [id] : [],
  );
  const refused = operations.flatMap((row) => (row.onlyRefusals ? [row.operation] : []));
  const versions = versionRows(totals);
  const open = findings.filter(({ owner }) => owner === undefined);
  const acceptedRows = findings.flatMap((finding) => {
    const entry = finding.owner === undefined ? undefined : accepted.get(finding.fingerprint);
    return entry === undefined ? [] : [{ finding, entry }];
  });
  const [exchanges, compared] = [sum(operations, 'exchanges'), sum(operations, 'compared')];
  return [
    {
      ...head,
      text: [
        `${given.label} at ${given.url}, compared with the upstream ${settings.upstream.url ?? ''} from ${day(totals.since)} to ${day(now)}.`,
        `${compared} of ${exchanges} exchanges were compared (${shareWords(exchanges === 0 ? undefined : compared / exchanges)}), and ${open.length === 1 ? '1 distinct difference is' : `${open.length} distinct differences are`} open.`,
        ...(never.length === 0 ? [] : [`Never compared, so nothing is known: ${never.join(', ')}.`]),
        ...(refused.length === 0
          ? []
          : [`Only refusals were compared, because no caller got a 2xx: ${refused.join(', ')}.`]),
        'An exchange is one GET request of a client that was served, from the old server or the cache. It is compared if the new server was asked the same for the same caller. Exchanges are muted if they differ only in values that change by themselves. Of those that are different, accepted ones were approved by the named owner, and the others are open. A race is a difference that vanished when both servers were asked again.',
        'A bound holds with a confidence of 95%, for requests and callers like those that were compared: see the coverage. Exchanges of one caller are not independent, so the bound for callers is the one to decide by. Callers are a random sample of at most 1,000 for each operation. Response times are those of the old server → the new one, estimated from classes.',
      ],
      tables: [
        comparisonTable(operations),
        boundTable(operations),
        openTable(open),
        {
          title: 'Accepted differences',
          columns: [
            ...columns('Operation', 'Difference', 'Owner', 'Until', 'Reason', 'Fingerprint'),
            { title: 'Count', isNumber: true },
          ],
          rows: acceptedRows.map(({ finding: { operation: id, message, at, fingerprint, count }, entry }) => [
            id,
            `${message}${at === '' ? '' : ` at ${at}`}`,
            entry.owner,
            entry.expires ?? 'no end',
            entry.reason,
            fingerprint,
            String(count),
          ]),
          empty: 'Nothing is accepted.',
        },
        coverageTable(rows),
        {
          title: 'Why exchanges were not compared',
          columns: [...columns('Operation', 'Reason'), { title: 'Exchanges', isNumber: true }],
          rows: operations.flatMap(({ operation: id, because }) =>
            Object.entries(because).map(([reason, count]) => [id, reason, String(count)]),
          ),
          empty: 'All were compared.',
        },
        {
          title: 'Versions',
          columns: [...columns('Contract', 'Release of the upstream'), { title: 'Comparisons', isNumber: true }],
          rows: versions.map(({ contract, release, count }) => [contract, release, String(count)]),
          empty: 'None.',
        },
      ],
      data: {
        label: given.label,
        url: given.url,
        since: new Date(totals.since).toISOString(),
        until: new Date(now).toISOString(),
        neverCompared: never,
        versions,
        operations,
        differences: findings.map((finding) => Object.assign({}, finding, { owner: finding.owner ?? null })),
        coverage: rows,
      },
    },
  ];
}

/** Returns what the gateways have counted, or why nothing is known. */
async function readTotals(given: MirrorOptions, { settings }: ReportedState): Promise<MirrorTotals | string> {
  const subject = subjectOf(given);
  if (usesRedis(settings.redis)) {
    const found = await editDocumentInRedis(settings.redis, { ...MIRROR_DOCUMENT, version: subject }, (same) => same);
    if (found === 'unreachable') return 'The counts are in Redis, which cannot be reached.';
    return found === 'new' ? 'Nothing has been compared yet.' : found;
  }
  const { totals } = readMirrorFile(settings, given.file);
  return totals.subject === subject ? totals : `Nothing has been compared yet, or ${given.file} is not up to date.`;
}

const day = (at: number) => new Date(at).toISOString().slice(0, 10);
const columns = (...titles: readonly string[]) => titles.map((title) => ({ title }));
const numbers = (...titles: readonly string[]) => titles.map((title) => ({ title, isNumber: true }));
const sum = (rows: readonly Readiness[], name: 'exchanges' | 'compared') =>
  rows.reduce((total, row) => total + row[name], 0);

function comparisonTable(rows: readonly Readiness[]): ReportTable {
  return {
    title: 'Comparisons',
    columns: [
      ...columns('Operation'),
      // The five outcomes add up to the exchanges.
      ...numbers('Exchanges', 'Equal', 'Different', 'Muted', 'Not comparable', 'Not made'),
      ...numbers('Accepted', 'Open'),
      ...columns('Accepted by'),
    ],
    rows: rows.map(({ operation, exchanges, equal, different, muted, notComparable, notMade, accepted, ...row }) => [
      operation,
      ...[exchanges, equal, different, muted, notComparable, notMade].map(String),
      ...[accepted, different - accepted].map(String),
      row.owners.join(', '),
    ]),
    empty: 'Nothing has been requested yet.',
  };
}

function boundTable(rows: readonly Readiness[]): ReportTable {
  return {
    title: 'Coverage and bounds',
    columns: [
      ...columns('Operation'),
      ...numbers(
        'Compared',
        'Races',
        'Coverage',
        'Callers',
        'Requests differ',
        'Callers notice',
        'Median time',
        '99% within',
      ),
    ],
    rows: rows.map(({ operation, compared, races, coverage, callers, atMost, callersAtMost, latency }) => [
      operation,
      String(compared),
      String(races),
      shareWords(coverage),
      String(callers),
      compared === 0 ? 'unknown' : atMostWords(atMost),
      callers === 0 ? 'unknown' : atMostWords(callersAtMost),
      ...(['p50', 'p99'] as const).map((name) => `${timeWords(latency.old[name])} → ${timeWords(latency.new[name])}`),
    ]),
    empty: 'Nothing has been requested yet.',
  };
}

/** An upper bound is rounded up, because it would not hold otherwise. */
const atMostWords = (share: number) => `at most ${Math.ceil(share * 1000) / 10}%`;

/** Formats an estimated response time in seconds, which is never below the first bound and never above the last one. */
function timeWords(seconds: number | undefined): string {
  if (seconds === undefined) return '?';
  const sign = seconds === LATENCY_BOUNDS[0] ? '≤ ' : seconds === LATENCY_BOUNDS.at(-1) ? '> ' : '';
  return `${sign}${Math.round(seconds * 1000)} ms`;
}

function openTable(findings: readonly ShownFinding[]): ReportTable {
  return {
    title: 'Open differences',
    columns: [
      ...columns('Operation', 'Status', 'Caller', 'Difference', 'Old', 'New', 'Contract', 'Fingerprint'),
      ...numbers('Count'),
    ],
    rows: findings.map((one) => [
      one.operation,
      String(one.status),
      one.role,
      `${one.keyword === LEAK ? 'LEAK: ' : ''}${one.message}${one.at === '' ? '' : ` at ${one.at}`}`,
      one.old,
      one.new,
      `${one.verdicts.old} → ${one.verdicts.new}`,
      one.fingerprint,
      String(one.count),
    ]),
    empty: 'No difference is open.',
  };
}

function coverageTable(rows: readonly CountRow[]): ReportTable {
  return {
    title: 'Coverage by parameter, status and caller',
    columns: [
      ...columns('Operation', 'Parameter', 'Status', 'Caller'),
      ...numbers('Compared', 'Different', 'Not comparable', 'Not made'),
    ],
    rows: rows.map(({ operation, parameter, status, role, equal, different, muted, notComparable, notMade }) => [
      operation,
      parameter === '' ? '(all)' : parameter,
      status === 0 ? 'none' : String(status),
      role === '' ? 'unknown' : role,
      ...[equal + different + muted, different, notComparable, notMade].map(String),
    ]),
    empty: 'Nothing has been requested yet.',
  };
}

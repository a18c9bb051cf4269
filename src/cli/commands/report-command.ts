import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadContract } from '../../contract/load-contract.ts';
import { systemClock } from '../../lib/clock.ts';
import { closestName } from '../../lib/closest-name.ts';
import { VIOLATION_CATEGORIES } from '../../model/violation.ts';
import { compareReports, type Comparison } from '../../report/comparison.ts';
import { detailLines } from '../../report/detail-lines.ts';
import { failures } from '../../report/fail-on.ts';
import { REPORT_FORMATS } from '../../report/formats.ts';
import { jsonText, toJsonFinding } from '../../report/json-report.ts';
import { COMPARISON_FORMATS } from '../../report/render-comparison.ts';
import { findingsOf, type Report, type ReportScope } from '../../report/report.ts';
import { type Command, type CommandIo, type CommandLine, EXIT, UsageError } from '../command.ts';
import { CONFIG_FLAGS, settingsFrom } from '../config-flags.ts';
import { knownOperation } from '../flag-values.ts';
import { renderOptions, writeText } from '../terminal/write-text.ts';
import { openReports, type Reports, tellFailures } from './open-reports.ts';
import { FAIL_FLAGS, reportRequest, type ReportRequest } from './report-flags.ts';

/** `portico report`: what the ledger holds, for people, pull requests and pipelines. */
export const reportCommand: Command = {
  name: 'report',
  summary: 'Report violations from the ledger, or one of them in detail',
  words: '[FINGERPRINT]',
  wordCount: [0, 1],
  flags: [
    ...CONFIG_FLAGS.filter(({ name }) => name === 'config'),
    { name: 'ledger', value: 'FILE', help: 'A ledger, or a JSON report; ledger.file by default.' },
    { name: 'format', value: 'FORMAT', help: `${[...REPORT_FORMATS.keys()].join(', ')}; table by default.` },
    { name: 'output', value: 'FILE', help: 'Where it goes instead of standard output (-).' },
    { name: 'since', value: 'TIME', help: '24h, 7d, or an instant such as 2026-05-04T10:00Z.' },
    { name: 'operation', value: 'ID', help: 'Only this operation.' },
    { name: 'release', value: 'LABEL', help: 'Only what was seen under this release.' },
    { name: 'compare', value: 'A', help: 'Followed by B: two releases, or two JSON reports.' },
    ...FAIL_FLAGS,
  ],
  notes: [
    'portico report --baseline portico.baseline.yaml --fail-on new',
    'portico report --since 24h --format markdown --output report.md',
    'portico report --compare 1.0 1.1 --fail-on new',
    '',
    'Exit code 1 when a rule of --fail-on is met; standard error says which.',
  ],
  run: async (line, io) => {
    const request = reportRequest(line, systemClock());
    const settings = await settingsFrom(line, io);
    const { operations } = loadContract(settings.contract);
    knownOperation(
      request.operation,
      operations.map(({ id }) => id),
      '--operation',
    );
    const reports = openReports(line, io, settings, operations);
    const { fingerprint, compare, format, rules } = request;
    if (fingerprint !== undefined) return showFinding(fingerprint, request, reports, line, io);
    if (compare !== undefined) return showComparison(compare, request, reports, line, io);
    const report = await reports.read(request);
    writeText(REPORT_FORMATS.get(format)?.(report, renderOptions(line, io)) ?? '', line, io);
    const absent = await absentRelease(request, report, reports);
    if (absent !== undefined) io.err(`portico: ${absent}`);
    // A gate that has judged nothing must not open: the label was mistyped, or the gateway has another.
    return absent !== undefined && rules.length > 0 ? EXIT.failed : tellFailures(failures(report, rules), io);
  },
};

/** Says that nothing was ever recorded under the release that was asked for, and under which there is something; undefined where there is. */
export async function absentRelease(
  { release }: Pick<ReportScope, 'release'>,
  report: Report,
  reports: Reports,
): Promise<string | undefined> {
  if (release === undefined || report.requests > 0 || findingsOf(report).length > 0) return undefined;
  const { releases } = await reports.read({ since: undefined, operation: undefined, release: undefined });
  if (releases.includes(release)) return undefined;
  const near = closestName(release, releases);
  const known = releases.length === 0 ? 'nothing under any' : releases.join(', ');
  return `nothing was recorded under the release ${release}; ${reports.source} has ${known}${near === undefined ? '' : ` (did you mean ${near}?)`}`;
}

/** Compares two releases of the ledger, or two exported reports; under `--fail-on new` what only the second has fails. */
export async function showComparison(
  [before, after]: readonly [string, string],
  request: ReportRequest,
  reports: Reports,
  line: CommandLine,
  io: CommandIo,
): Promise<number> {
  const sides = [
    [before, await side(before, request, reports, io.cwd)],
    [after, await side(after, request, reports, io.cwd)],
  ] as const;
  const comparison = compareReports(...sides);
  writeText(COMPARISON_FORMATS.get(request.format)?.(comparison, renderOptions(line, io)) ?? '', line, io);
  const added = failures(
    addedOf(comparison),
    request.rules.filter(({ kind }) => kind === 'new'),
  ).map((reason) => reason.replace('not in the baseline', `not in ${before}`));
  const others = failures(
    sides[1][1],
    request.rules.filter(({ kind }) => kind !== 'new'),
  );
  return tellFailures([...added, ...others], io);
}

async function side(name: string, scope: ReportScope, reports: Reports, cwd: string): Promise<Report> {
  const { since, operation } = scope;
  const path = resolve(cwd, name);
  // Folders are often called as releases are.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    return reports.read({ since, operation, release: undefined }, path);
  const all = await reports.read({ since: undefined, operation: undefined, release: undefined });
  if (all.releases.includes(name)) return reports.read({ since, operation, release: name });
  const known = all.releases.length === 0 ? 'it has none' : `it has ${all.releases.join(', ')}`;
  throw new UsageError(`--compare: "${name}" is neither a file nor a release of ${reports.source}; ${known}`);
}

/** What only the second side has. */
function addedOf({ findings }: Comparison): Pick<Report, 'groups'> {
  const added = findings.filter(({ change }) => change === 'new').map(({ finding }) => finding);
  return {
    groups: VIOLATION_CATEGORIES.map((category) => ({
      category,
      findings: added.filter(({ entry }) => entry.category === category),
    })),
  };
}

/** Shows one violation in detail; the beginning of its fingerprint is enough where only one has it. */
export async function showFinding(
  fingerprint: string,
  request: ReportRequest,
  reports: Reports,
  line: CommandLine,
  io: CommandIo,
): Promise<number> {
  const report = await reports.read(request);
  const all = [...findingsOf(report), ...report.candidates];
  const found = all.filter(({ entry }) => entry.fingerprint.startsWith(fingerprint));
  const finding = found.find(({ entry }) => entry.fingerprint === fingerprint) ?? found[0];
  if (finding === undefined || (found.length > 1 && finding.entry.fingerprint !== fingerprint)) {
    const many = found.map(({ entry }) => entry.fingerprint).join(', ');
    const why = finding === undefined ? 'none begins with' : `several begin with it (${many}):`;
    io.err(`portico: no single violation: ${why} ${fingerprint} in ${reports.source}. portico report lists them.`);
    return EXIT.failed;
  }
  const text = request.format === 'json' ? jsonText(toJsonFinding(finding)) : detailLines(finding).join('\n');
  writeText(text, line, io);
  return EXIT.ok;
}

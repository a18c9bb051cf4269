import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { readRoles } from '../../engine/load-start.ts';
import { anyoneMayChange } from '../../workbench/audit/anonymous-rules.ts';
import { type Settings, withDemoState } from '../../engine/config/settings.ts';
import { optionsOf } from '../../engine/config/configurable.ts';
import { loadOperations } from '../../engine/contract/load-contract.ts';
import { featuresOf } from '../../engine/feature.ts';
import type { Operation } from '../../engine/model/operation.ts';
import { systemClock } from '../../lib/clock.ts';
import { closestName } from '../../lib/closest-name.ts';
import { emptySnapshot } from '../../engine/model/ledger-entry.ts';
import { VIOLATION_CATEGORIES } from '../../engine/model/violation.ts';
import { compileUndocumentedPolicy } from '../../engine/pipeline/undocumented/policy.ts';
import { compareReports, type Comparison } from '../../workbench/report/comparison.ts';
import { detailLines, suggestAllowLines } from '../../workbench/report/detail-lines.ts';
import { type FailRule, failures } from '../../workbench/report/fail-on.ts';
import { REPORT_FORMATS } from '../../workbench/report/formats.ts';
import { renderJsonFinding } from '../../workbench/report/json-report.ts';
import { findingsOf, type Report, type ReportInput, type ReportScope } from '../../workbench/report/report.ts';
import { type CommandLine, EXIT, UsageError } from '../../lib/command.ts';
import type { ProgramCommand, ProgramIo } from '../program.ts';
import { renderOptions, writeText } from '../command-output.ts';
import { CONFIG_FLAGS, settingsFrom } from '../flags/config-flags.ts';
import { choiceFlag, requireKnownOperation, sinceHour } from '../../lib/flag-values.ts';
import { FAIL_FLAGS, failRules, reportFailures } from '../flags/fail-flags.ts';
import { recordsAt } from '../flags/kept-records.ts';
import { createWhyUnreported } from '../tasks/unreported.ts';
import { openReports, type Reports } from '../tasks/open-reports.ts';

/** The `portico report` command reports the violations in the ledger, for people, pull requests and pipelines. */
export const reportCommand: ProgramCommand = {
  name: 'report',
  summary: 'Report all violations in the ledger, or one of them in detail',
  args: '[FINGERPRINT]',
  argCount: [0, 1],
  flags: [
    ...CONFIG_FLAGS.filter(({ name }) => name === 'config'),
    { name: 'ledger', value: 'FILE', help: 'A ledger, or a JSON report; ledger.file by default.' },
    {
      name: 'format',
      value: 'FORMAT',
      choices: [...REPORT_FORMATS.keys()],
      help: `${[...REPORT_FORMATS.keys()].join(', ')}; table by default.`,
    },
    { name: 'output', value: 'FILE', help: 'File for the report; standard output (-) by default.' },
    {
      name: 'since',
      value: 'TIME',
      help: 'Start of the reported period: 24h, 7d, or an instant such as 2026-05-04T10:00Z.',
    },
    { name: 'operation', value: 'ID', help: 'Only this operation.' },
    { name: 'release', value: 'LABEL', help: 'Only violations in this release.' },
    {
      name: 'replica',
      value: 'NAME',
      help: 'Only one of the gateways that share a ledger in Redis, and only its last 48 hours.',
    },
    {
      name: 'section',
      value: 'NAME',
      help: 'Only this section, such as mirror: how far each operation is from being served by a second server.',
    },
    { name: 'compare', value: 'A', help: 'Compare A with B, the next argument: two releases or two JSON reports.' },
    { name: 'suggest-allow', help: 'Print undocumented.allow entries for the undocumented paths in the ledger.' },
    ...FAIL_FLAGS,
    { name: 'allow-empty', help: 'Let --fail-on pass if the ledger does not exist or is empty.' },
  ],
  notes: [
    'Example: portico report --baseline portico.baseline.yaml --fail-on new',
    'Example: portico report --since 24h --format markdown --output report.md',
    'Example: portico report --compare 1.0 1.1 --fail-on new',
    'Example: portico report --suggest-allow',
    'Example: portico report --section mirror --format html --output readiness.html',
    '',
    'The exit code is 1 if a --fail-on rule matches; standard error names the rule.',
  ],
  run: async (line, io) => {
    const request = reportRequest(line, systemClock());
    const settings = await settingsFrom(line, io);
    const operations = loadOperations(settings.contract);
    requireKnownOperation(
      request.operation,
      operations.map(({ id }) => id),
      '--operation',
    );
    const reports = openReports(line, io, settings, operations);
    const { fingerprint, compare, format, rules } = request;
    const { basePath } = settings.profile;
    if (fingerprint !== undefined) return showFinding(fingerprint, request, { reports, basePath }, line, io);
    if (compare !== undefined)
      return showComparison(compare, request, { reports, whyUnreported: createWhyUnreported(settings) }, line, io);
    // A section is about what features have stored, and needs no ledger.
    const recorded =
      request.section === undefined
        ? await reports.read(request)
        : reports.of(emptySnapshot({}, systemClock()), WHOLE_LEDGER);
    const report = await withSections(recorded, request, { reports, settings, operations });
    if (request.suggestAllow) {
      const policy = compileUndocumentedPolicy(basePath, 'enforce', false, settings.undocumented.allow);
      const isAllowed = (method: string, path: string) => policy(method, path, undefined).pass;
      const isCritical = anyoneMayChange(settings, () => readRoles(settings));
      writeText(suggestAllowLines(report, { basePath, isAllowed, isCritical }).join('\n'), line, io);
      return EXIT.ok;
    }
    writeText(REPORT_FORMATS.get(format)?.report(report, renderOptions(line, io)) ?? '', line, io);
    const demo = recordsAt(withDemoState(settings)).name;
    // Without an upstream, the command may be run for the demo or for a real server that is configured elsewhere.
    if (
      line.last('ledger') === undefined &&
      demo !== recordsAt(settings).name &&
      isEmptyReport(report) &&
      existsSync(demo)
    )
      io.err(`The ledger of the demo is ${demo}; add --ledger ${demo} to report on it.`);
    const unknownRelease = await unknownReleaseMessage(request, report, reports);
    if (unknownRelease !== undefined) io.err(`portico: ${unknownRelease}`);
    if (rules.length === 0) return EXIT.ok;
    // A pipeline must not succeed if there is no data. The label may be misspelled, or the gateway may use a different
    // one.
    if (unknownRelease !== undefined) return EXIT.failed;
    const isEmpty = !request.allowEmpty && (await isLedgerEmpty(report, reports));
    const noData = `${reports.source} does not exist or is empty, so nothing was checked; add --allow-empty if this is expected`;
    return reportFailures(isEmpty ? [noData] : failures(report, rules), io);
  },
};

/** Adds what features say about themselves. Throws a UsageError if the requested section does not exist. */
async function withSections(
  report: Report,
  { section, operation }: Pick<ReportRequest, 'section' | 'operation'>,
  parts: { readonly reports: Reports; readonly settings: Settings; readonly operations: readonly Operation[] },
): Promise<Report> {
  const { reports, settings, operations } = parts;
  const about = { settings, operations, operation, accepted: reports.baseline, now: report.takenAt };
  const found = await Promise.all(
    featuresOf(settings).map(async (feature) => {
      const options = feature.reportSections && optionsOf(settings, feature);
      return options === undefined ? [] : ((await feature.reportSections?.(options, about)) ?? []);
    }),
  );
  const sections = found.flat();
  if (section === undefined) return { ...report, sections };
  const one = sections.find(({ id }) => id === section);
  if (one !== undefined) return { ...report, sections: [one], isSectionsOnly: true };
  const known = sections.length === 0 ? 'there is none' : `known are ${sections.map(({ id }) => id).join(', ')}`;
  throw new UsageError(`--section ${section}: no such section; ${known}`);
}

/** The parsed flags and arguments of `portico report`. */
interface ReportRequest {
  readonly fingerprint: string | undefined;
  readonly compare: readonly [before: string, after: string] | undefined;
  /** True if suggested entries for `undocumented.allow` are requested instead of a report. */
  readonly suggestAllow: boolean;
  /** True if the command succeeds even when the ledger has no data. */
  readonly allowEmpty: boolean;
  readonly format: string;
  readonly since: number | undefined;
  /** The name of the only section of the report. Undefined if the whole report is requested. */
  readonly section: string | undefined;
  readonly operation: string | undefined;
  readonly release: string | undefined;
  readonly replica: string | undefined;
  readonly rules: readonly FailRule[];
}

/** Throws a UsageError if the flags are invalid or cannot be combined. */
function reportRequest(line: CommandLine, now: number): ReportRequest {
  const before = line.last('compare');
  const [word, ...more] = line.args;
  if (more.length > 0) throw new UsageError(`report: unexpected argument "${more.join(' ')}"`);
  if (before !== undefined && word === undefined)
    throw new UsageError('--compare requires two releases or JSON reports: --compare A B');
  const compare = before === undefined || word === undefined ? undefined : ([before, word] as const);
  const fingerprint = compare === undefined ? word?.toLowerCase() : undefined;
  if (fingerprint !== undefined && !/^[0-9a-f]{6,64}$/.test(fingerprint))
    throw new UsageError(
      `"${word ?? ''}" is not a fingerprint: enter at least the first 6 of its 16 hexadecimal digits (report= in Contract-Status)`,
    );
  if (fingerprint !== undefined && line.has('fail-on'))
    throw new UsageError('--fail-on cannot be combined with a fingerprint');
  if (compare !== undefined && line.last('release') !== undefined)
    throw new UsageError('--compare cannot be combined with --release');
  if (compare !== undefined && line.last('replica') !== undefined)
    throw new UsageError('--compare cannot be combined with --replica');
  if (line.last('release') === '')
    throw new UsageError('--release requires a label, as set with release or PORTICO_RELEASE');
  const isDetail = fingerprint !== undefined || compare !== undefined;
  if (line.last('section') !== undefined && isDetail)
    throw new UsageError('--section cannot be combined with a fingerprint or --compare');
  const format = line.last('format');
  if (line.last('section') !== undefined && (format === 'junit' || format === 'sarif'))
    throw new UsageError(`--section cannot be combined with --format ${format}, which has no sections`);
  const suggestAllow = line.has('suggest-allow');
  const conflict = ['format', 'fail-on', 'compare'].find((flag) => line.has(flag));
  if (suggestAllow && (conflict !== undefined || fingerprint !== undefined))
    throw new UsageError(
      `--suggest-allow cannot be combined with ${conflict === undefined ? 'a fingerprint' : `--${conflict}`}`,
    );
  const since = line.last('since');
  return {
    fingerprint,
    compare,
    suggestAllow,
    allowEmpty: line.has('allow-empty'),
    format:
      choiceFlag(line, 'format', fingerprint === undefined ? [...REPORT_FORMATS.keys()] : ['table', 'json']) ?? 'table',
    since: since === undefined ? undefined : sinceHour(since, now),
    section: line.last('section'),
    operation: line.last('operation'),
    release: line.last('release'),
    replica: line.last('replica'),
    rules: failRules(line),
  };
}

const WHOLE_LEDGER: ReportScope = { since: undefined, operation: undefined, release: undefined };

const isEmptyReport = (report: Report) => report.requests === 0 && findingsOf(report).length === 0;

/**
 * Returns true if the ledger has no data at all. A ledger that merely lacks traffic from the requested period is not
 * empty.
 */
async function isLedgerEmpty(report: Report, reports: Reports): Promise<boolean> {
  return isEmptyReport(report) && isEmptyReport(await reports.read(WHOLE_LEDGER));
}

/**
 * If the ledger has no data for the requested release, returns a message that lists the known releases. Otherwise,
 * returns undefined.
 */
async function unknownReleaseMessage(
  { release }: Pick<ReportScope, 'release'>,
  report: Report,
  reports: Reports,
): Promise<string | undefined> {
  if (release === undefined || !isEmptyReport(report)) return undefined;
  const { releases } = await reports.read(WHOLE_LEDGER);
  if (releases.includes(release)) return undefined;
  const near = closestName(release, releases);
  const known = releases.length === 0 ? 'no releases' : releases.join(', ');
  return `no data was recorded for release ${release}; ${reports.source} contains ${known}${near === undefined ? '' : ` (did you mean ${near}?)`}`;
}

type WhyUnreported = ReturnType<typeof createWhyUnreported>;

/**
 * Compares two releases or two JSON reports. `--fail-on new` applies to the violations that occur only on the second
 * side.
 */
async function showComparison(
  [before, after]: readonly [string, string],
  request: ReportRequest,
  { reports, whyUnreported }: { readonly reports: Reports; readonly whyUnreported: WhyUnreported },
  line: CommandLine,
  io: ProgramIo,
): Promise<number> {
  const first = await side(before, request, reports, io.cwd, 'none');
  const second = await side(after, request, reports, io.cwd, first.statistics);
  const sides = [
    [before, first],
    [after, second],
  ] as const;
  const comparison = compareReports(...sides, whyUnreported);
  writeText(REPORT_FORMATS.get(request.format)?.comparison(comparison, renderOptions(line, io)) ?? '', line, io);
  const added = failures(
    addedOf(comparison),
    request.rules.filter(({ kind }) => kind === 'new'),
  ).map((reason) => reason.replace('not in the baseline', `not in ${before}`));
  const others = failures(
    sides[1][1],
    request.rules.filter(({ kind }) => kind !== 'new'),
  );
  return reportFailures([...added, ...others], io);
}

async function side(
  name: string,
  scope: ReportScope,
  reports: Reports,
  cwd: string,
  comparedWith: ReportInput['comparedWith'],
): Promise<Report> {
  const { since, operation } = scope;
  const path = resolve(cwd, name);
  // Only a file is accepted, because a folder can have the same name as a release.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    return reports.read({ since, operation, release: undefined }, path, comparedWith);
  const all = await reports.read(WHOLE_LEDGER);
  if (all.releases.includes(name)) return reports.read({ since, operation, release: name }, undefined, comparedWith);
  const known = all.releases.length === 0 ? 'it contains no releases' : `it contains ${all.releases.join(', ')}`;
  throw new UsageError(`--compare: "${name}" is neither a file nor a release of ${reports.source}; ${known}`);
}

/** Returns the violations that occur only on the second side of a comparison. */
function addedOf({ findings }: Comparison): Pick<Report, 'groups' | 'outages'> {
  const added = findings.filter(({ change }) => change === 'new').map(({ finding }) => finding);
  return {
    groups: VIOLATION_CATEGORIES.map((category) => ({
      category,
      findings: added.filter(({ entry }) => entry.category === category),
    })),
    outages: [],
  };
}

/** Shows the details of one violation, identified by its fingerprint or a unique prefix of it. */
async function showFinding(
  fingerprint: string,
  request: ReportRequest,
  { reports, basePath }: { readonly reports: Reports; readonly basePath: string },
  line: CommandLine,
  io: ProgramIo,
): Promise<number> {
  const report = await reports.read(request);
  const all = [...findingsOf(report), ...report.shadowDifferences, ...report.statusChanges, ...report.outages];
  const found = all.filter(({ entry }) => entry.fingerprint.startsWith(fingerprint));
  const finding = found.find(({ entry }) => entry.fingerprint === fingerprint) ?? found[0];
  if (finding === undefined || (found.length > 1 && finding.entry.fingerprint !== fingerprint)) {
    const matches = found.map(({ entry }) => entry.fingerprint).join(', ');
    const problem = finding === undefined ? 'does not match a violation' : `matches several violations (${matches})`;
    io.err(`portico: ${fingerprint} ${problem} in ${reports.source}; portico report lists all violations`);
    return EXIT.failed;
  }
  const text = request.format === 'json' ? renderJsonFinding(finding) : detailLines(finding, basePath).join('\n');
  writeText(text, line, io);
  return EXIT.ok;
}

import type { AcceptedViolation } from '../../engine/model/ledger-entry.ts';
import {
  CHANGE_WORDS,
  changedShares,
  type ComparedFinding,
  comparisonWords,
  groupedByChange,
  NO_DIFFERENCE,
  type RenderComparison,
} from './comparison.ts';
import { escapeMarkup } from '../../lib/plain-text.ts';
import { countWords } from '../../lib/count-words.ts';
import { CATEGORY_WORDS, operationName, placeWords, timeWords } from './report-words.ts';
import { shareWords } from '../../lib/share-words.ts';
import {
  detailsCommand,
  type Finding,
  findingsOf,
  incidentSections,
  isFailure,
  isNew,
  type RenderOptions,
  type RenderReport,
  type Report,
  summaryWords,
} from './report.ts';

/**
 * Renders a report as JUnit XML. New violations are failed test cases. Accepted violations and advisories are skipped,
 * with the reason for the acceptance or the details of the advisory.
 */
export const renderJunit: RenderReport = (report, options) => {
  const suites = [...failingSuites(report, options), ...incidentSuites(report), ...passingSuites(report)];
  const all = suites.length === 0 ? [noTraffic(report)] : suites;
  return junitDocument(all, report.takenAt);
};

function failingSuites(report: Report, options: RenderOptions): JunitSuite[] {
  const suites = new Map<string, Finding[]>();
  for (const finding of findingsOf(report)) {
    const name = `${operationName(finding.entry.operation)} ${finding.entry.category}`;
    suites.set(name, [...(suites.get(name) ?? []), finding]);
  }
  return [...suites].map(([name, findings]) => ({
    name,
    cases: findings.map((finding) => junitCase(finding, options)),
    failures: findings.filter(isFailure).length,
    skipped: findings.filter((finding) => !isFailure(finding)).length,
  }));
}

/**
 * Renders a violation as a test case, which is skipped if the violation is accepted or an advisory, and failed
 * otherwise.
 */
function junitCase(finding: Finding, options: RenderOptions): string {
  const { entry, baselineState, accepted, share, place } = finding;
  const head = junitHead(
    `${operationName(entry.operation)}.${entry.category}`,
    `${placeWords(entry)}: ${entry.message} [${entry.fingerprint}]`,
  );
  if (!isNew(finding)) return `    ${head}<skipped message="${escapeMarkup(acceptedWords(accepted))}"/></testcase>`;
  const command = detailsCommand(entry.fingerprint, options);
  const lines = [
    `${CATEGORY_WORDS[entry.category]}: ${entry.message}`,
    `${entry.count} times, ${shareWords(share)} of the requests, last ${timeWords(entry.lastSeenAt)} UTC`,
    `contract: ${place.file}#${place.pointer}`,
    ...(entry.suggestion === undefined ? [] : [`suggestion: ${entry.suggestion}`]),
    ...(baselineState === 'expired' ? [`expired: ${acceptedWords(accepted)}`] : []),
    ...entry.samples.map(({ requestId, found }) => `request ${requestId}${found === undefined ? '' : `: ${found}`}`),
    ...(command === undefined ? [] : [`details: ${command}`]),
  ];
  const message = escapeMarkup(entry.message);
  const text = lines.map(escapeMarkup).join('\n');
  return [
    `    ${head}`,
    ...(isFailure(finding)
      ? [`      <failure message="${message}" type="${escapeMarkup(entry.category)}">${text}</failure>`]
      : [`      <skipped message="advisory: ${message}"/>`, `      <system-out>${text}</system-out>`]),
    '    </testcase>',
  ].join('\n');
}

/** Returns the owner, the end and the reason of an acceptance as one line. */
const acceptedWords = (accepted: AcceptedViolation | undefined): string =>
  accepted === undefined
    ? ''
    : `accepted by ${accepted.owner}${accepted.expires === undefined ? '' : ` until ${accepted.expires}`}: ${accepted.reason}`;

/** Renders upstream failures and status changes as skipped test cases, because neither is a violation. */
function incidentSuites(report: Report): JunitSuite[] {
  return incidentSections(report).map(({ title, findings }) => ({
    name: title,
    cases: findings.map(({ entry }) => {
      const head = junitHead(operationName(entry.operation), `${entry.message} [${entry.fingerprint}]`);
      return `    ${head}<skipped message="${escapeMarkup(`${title}: ${countWords(entry.count, 'request')}`)}"/></testcase>`;
    }),
    failures: 0,
    skipped: findings.length,
  }));
}

function passingSuites(report: Report): JunitSuite[] {
  const failed = [...findingsOf(report), ...report.outages];
  const violated = new Set(failed.map(({ entry }) => entry.operation));
  const requested = new Set(report.traffic.filter(({ requests }) => requests > 0).map(({ operation }) => operation));
  return [...requested]
    .filter((operation) => operation !== undefined && !violated.has(operation))
    .map((operation) => ({
      name: operationName(operation),
      cases: [`    ${junitHead(operationName(operation), 'conforms to the contract')}</testcase>`],
      failures: 0,
      skipped: 0,
    }));
}

function noTraffic(report: Report): JunitSuite {
  const skipped = `<skipped message="${escapeMarkup(summaryWords(report))}"/>`;
  return {
    name: 'traffic',
    cases: [`    ${junitHead('traffic', 'traffic was recorded')}${skipped}</testcase>`],
    failures: 0,
    skipped: 1,
  };
}

/**
 * Renders a comparison as JUnit XML. A violation that occurs only on the second side is a failed test case, or a
 * skipped test case if it is accepted or an advisory. All other violations are passed test cases.
 */
export const renderComparedJunit: RenderComparison = (comparison, options) => {
  const suites = groupedByChange(comparison).map(({ change, findings }): JunitSuite => {
    const added = change === 'new' ? findings : [];
    return {
      name: CHANGE_WORDS[change],
      cases: findings.map((one) => (change === 'new' ? junitCase(one.finding, options) : passedCase(one))),
      failures: added.filter(({ finding }) => isFailure(finding)).length,
      skipped: added.filter(({ finding }) => !isFailure(finding)).length,
    };
  });
  const nothing = {
    name: comparisonWords(comparison),
    cases: [`    ${junitHead('comparison', NO_DIFFERENCE)}</testcase>`],
    failures: 0,
    skipped: 0,
  };
  return junitDocument(suites.length === 0 ? [nothing] : suites, comparison.takenAt);
};

function passedCase(one: ComparedFinding): string {
  const { entry } = one.finding;
  const name = `${operationName(entry.operation)}.${entry.category}`;
  const head = junitHead(name, `${placeWords(entry)}: ${entry.message} [${entry.fingerprint}]`);
  const words = `${CHANGE_WORDS[one.change]}: ${changedShares(one)}`;
  return `    ${head}<system-out>${escapeMarkup(words)}</system-out></testcase>`;
}

/** A JUnit suite: one operation's violations in one category, or an operation without violations. */
interface JunitSuite {
  readonly name: string;
  /** The test cases as XML. */
  readonly cases: readonly string[];
  readonly failures: number;
  readonly skipped: number;
}

/** Renders the suites as one XML document, with totals. */
function junitDocument(suites: readonly JunitSuite[], takenAt: number): string {
  const total = (of: (suite: JunitSuite) => number) => suites.reduce((sum, suite) => sum + of(suite), 0);
  const stamp = new Date(takenAt).toISOString().slice(0, 19);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="portico" ${counts({
      tests: total(({ cases }) => cases.length),
      failures: total(({ failures }) => failures),
      skipped: total(({ skipped }) => skipped),
    })}>`,
    ...suites.map((suite) => suiteText(suite, stamp)),
    '</testsuites>',
  ].join('\n');
}

/**
 * Renders the start tag of a test case. The test case has the same name in every run, so that a CI server can track it.
 */
const junitHead = (classname: string, name: string): string =>
  `<testcase classname="portico.${escapeMarkup(classname)}" name="${escapeMarkup(name)}" time="0">`;

function suiteText({ name, cases, failures, skipped }: JunitSuite, stamp: string): string {
  const attributes = counts({ tests: cases.length, failures, skipped });
  const head = `  <testsuite name="${escapeMarkup(name)}" ${attributes} timestamp="${stamp}">`;
  return [head, ...cases, '  </testsuite>'].join('\n');
}

const counts = ({ tests, failures, skipped }: Readonly<Record<'tests' | 'failures' | 'skipped', number>>): string =>
  `tests="${tests}" failures="${failures}" errors="0" skipped="${skipped}" time="0"`;

import type { AcceptedViolation } from '../model/baseline.ts';
import { escapeMarkup } from './plain-text.ts';
import type { RenderReport } from './render-options.ts';
import { type Finding, findingsOf, isNew, type Report } from './report.ts';
import { CATEGORY_WORDS, operationName, placeWords, shareWords, summaryWords, timeWords } from './report-words.ts';

/** A suite: the violations of one category in one operation; without any, an operation that passed. */
interface Suite {
  readonly name: string;
  readonly cases: readonly string[];
  readonly failures: number;
  readonly skipped: number;
}

/** A report for whatever shows test results: new violations are failures, accepted ones are skipped with their reason. */
export const renderJunit: RenderReport = (report) => {
  const suites = [...failingSuites(report), ...passingSuites(report)];
  const all = suites.length === 0 ? [nothingSeen(report)] : suites;
  const total = (of: (suite: Suite) => number) => all.reduce((sum, suite) => sum + of(suite), 0);
  const stamp = new Date(report.takenAt).toISOString().slice(0, 19);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="portico" ${counts({
      tests: total(({ cases }) => cases.length),
      failures: total(({ failures }) => failures),
      skipped: total(({ skipped }) => skipped),
    })}>`,
    ...all.map((suite) => suiteText(suite, stamp)),
    '</testsuites>',
  ].join('\n');
};

function suiteText({ name, cases, failures, skipped }: Suite, stamp: string): string {
  const attributes = counts({ tests: cases.length, failures, skipped });
  const head = `  <testsuite name="${escapeMarkup(name)}" ${attributes} timestamp="${stamp}">`;
  return [head, ...cases, '  </testsuite>'].join('\n');
}

const counts = ({ tests, failures, skipped }: Readonly<Record<'tests' | 'failures' | 'skipped', number>>): string =>
  `tests="${tests}" failures="${failures}" errors="0" skipped="${skipped}" time="0"`;

function failingSuites(report: Report): Suite[] {
  const suites = new Map<string, Finding[]>();
  for (const finding of findingsOf(report)) {
    const name = `${operationName(finding.entry.operation)} ${finding.entry.category}`;
    suites.set(name, [...(suites.get(name) ?? []), finding]);
  }
  return [...suites].map(([name, findings]) => ({
    name,
    cases: findings.map(caseOf),
    failures: findings.filter(isNew).length,
    skipped: findings.filter((finding) => !isNew(finding)).length,
  }));
}

function caseOf({ entry, standing, accepted, share, place }: Finding): string {
  const head = testcase(
    `${operationName(entry.operation)}.${entry.category}`,
    `${placeWords(entry)}: ${entry.message} [${entry.fingerprint}]`,
  );
  if (standing === 'accepted')
    return `    ${head}<skipped message="${escapeMarkup(acceptedWords(accepted))}"/></testcase>`;
  const lines = [
    `${CATEGORY_WORDS[entry.category]}: ${entry.message}`,
    `${entry.count} times, ${shareWords(share)} of the requests, last ${timeWords(entry.lastSeenAt)} UTC`,
    `contract: ${place.file}#${place.pointer}`,
    ...(entry.suggestion === undefined ? [] : [`suggestion: ${entry.suggestion}`]),
    ...(standing === 'expired' ? [`expired: ${acceptedWords(accepted)}`] : []),
    ...entry.samples.map(({ requestId, found }) => `request ${requestId}${found === undefined ? '' : `: ${found}`}`),
    `details: portico report ${entry.fingerprint}`,
  ];
  return [
    `    ${head}`,
    `      <failure message="${escapeMarkup(entry.message)}" type="${escapeMarkup(entry.category)}">${lines.map(escapeMarkup).join('\n')}</failure>`,
    '    </testcase>',
  ].join('\n');
}

const testcase = (classname: string, name: string): string =>
  `<testcase classname="portico.${escapeMarkup(classname)}" name="${escapeMarkup(name)}" time="0">`;

const acceptedWords = (accepted: AcceptedViolation | undefined): string =>
  accepted === undefined
    ? ''
    : `accepted by ${accepted.owner}${accepted.expires === undefined ? '' : ` until ${accepted.expires}`}: ${accepted.reason}`;

function passingSuites(report: Report): Suite[] {
  const broken = new Set(findingsOf(report).map(({ entry }) => entry.operation));
  const seen = new Set(report.traffic.filter(({ requests }) => requests > 0).map(({ operation }) => operation));
  return [...seen]
    .filter((operation) => operation !== undefined && !broken.has(operation))
    .map((operation) => ({
      name: operationName(operation),
      cases: [`    ${testcase(operationName(operation), 'keeps to the contract')}</testcase>`],
      failures: 0,
      skipped: 0,
    }));
}

function nothingSeen(report: Report): Suite {
  const skipped = `<skipped message="${escapeMarkup(summaryWords(report))}"/>`;
  return {
    name: 'traffic',
    cases: [`    ${testcase('traffic', 'something was seen')}${skipped}</testcase>`],
    failures: 0,
    skipped: 1,
  };
}

import type { AcceptedViolation } from '../model/baseline.ts';
import { escapeMarkup } from './plain-text.ts';
import { junitDocument, junitHead, type JunitSuite } from './junit-document.ts';
import type { RenderReport } from './render-options.ts';
import { type Finding, findingsOf, isNew, type Report } from './report.ts';
import { CATEGORY_WORDS, operationName, placeWords, shareWords, summaryWords, timeWords } from './report-words.ts';

/** A report for whatever shows test results: new violations are failures, accepted ones are skipped with their reason. */
export const renderJunit: RenderReport = (report) => {
  const suites = [...failingSuites(report), ...passingSuites(report)];
  const all = suites.length === 0 ? [nothingSeen(report)] : suites;
  return junitDocument(all, report.takenAt);
};

function failingSuites(report: Report): JunitSuite[] {
  const suites = new Map<string, Finding[]>();
  for (const finding of findingsOf(report)) {
    const name = `${operationName(finding.entry.operation)} ${finding.entry.category}`;
    suites.set(name, [...(suites.get(name) ?? []), finding]);
  }
  return [...suites].map(([name, findings]) => ({
    name,
    cases: findings.map(junitCase),
    failures: findings.filter(isNew).length,
    skipped: findings.filter((finding) => !isNew(finding)).length,
  }));
}

/** A violation as a test: failed while nobody accepts it, skipped with the reason otherwise. */
export function junitCase({ entry, standing, accepted, share, place }: Finding): string {
  const head = junitHead(
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

/** Who accepts a violation and why, as one line. */
export const acceptedWords = (accepted: AcceptedViolation | undefined): string =>
  accepted === undefined
    ? ''
    : `accepted by ${accepted.owner}${accepted.expires === undefined ? '' : ` until ${accepted.expires}`}: ${accepted.reason}`;

function passingSuites(report: Report): JunitSuite[] {
  const broken = new Set(findingsOf(report).map(({ entry }) => entry.operation));
  const seen = new Set(report.traffic.filter(({ requests }) => requests > 0).map(({ operation }) => operation));
  return [...seen]
    .filter((operation) => operation !== undefined && !broken.has(operation))
    .map((operation) => ({
      name: operationName(operation),
      cases: [`    ${junitHead(operationName(operation), 'keeps to the contract')}</testcase>`],
      failures: 0,
      skipped: 0,
    }));
}

function nothingSeen(report: Report): JunitSuite {
  const skipped = `<skipped message="${escapeMarkup(summaryWords(report))}"/>`;
  return {
    name: 'traffic',
    cases: [`    ${junitHead('traffic', 'something was seen')}${skipped}</testcase>`],
    failures: 0,
    skipped: 1,
  };
}

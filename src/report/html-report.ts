import type { AcceptedViolation } from '../model/ledger-entry.ts';
import {
  CHANGE_WORDS,
  changedShares,
  type ComparedFinding,
  comparisonWords,
  groupedByChange,
  NO_DIFFERENCE,
} from './comparison.ts';
import { htmlPage, htmlTable, htmlTime } from './html-page.ts';
import { escapeMarkup } from './plain-text.ts';
import type { RenderComparison, RenderReport } from './render-options.ts';
import {
  CATEGORY_WORDS,
  countWords,
  operationName,
  placeWords,
  shareWords,
  summaryWords,
  timeWords,
} from './report-words.ts';
import type { Finding, Report } from './report.ts';

/** Renders a report as one page without external resources. */
export const renderHtml: RenderReport = (report, { version }) =>
  htmlPage('Contract report', [
    `<p><strong>${escapeMarkup(summaryWords(report))}</strong></p>`,
    `<p class="soft">Portico ${escapeMarkup(version)}, ${htmlTime(report.takenAt)} UTC${releaseWords(report)}</p>`,
    ...(report.dropped === 0
      ? []
      : [`<p>This report is incomplete: the ledger dropped ${countWords(report.dropped, 'record')}.</p>`]),
    ...report.groups.flatMap(({ category, findings }) => section(CATEGORY_WORDS[category], category, findings)),
    ...(report.candidates.length === 0
      ? []
      : section('Differences under the shadow contract', 'candidate', report.candidates)),
    ...baselineSection('Expired acceptances', report.expired),
    ...baselineSection('Accepted but no longer found', report.noLongerSeen),
    ...trafficSection(report),
  ]);

const releaseWords = ({ releases }: Report): string =>
  releases.length === 0
    ? ''
    : escapeMarkup(`, ${releases.length === 1 ? 'release' : 'releases'} ${releases.join(', ')}`);

function section(title: string, category: string, findings: readonly Finding[]): string[] {
  return [
    `<h2 id="${escapeMarkup(category)}">${escapeMarkup(title)} (${findings.length})</h2>`,
    ...htmlTable(
      `${title}: ${countWords(findings.length, 'distinct violation')}, worst first`,
      ['Operation', 'State', 'Violation', 'Count', 'Share', 'Callers', 'Last seen'],
      findings.map(findingRow),
    ),
  ];
}

function findingRow({ entry, baselineState, share, accepted, place }: Finding): string {
  const state = entry.candidate ?? baselineState;
  const facts: readonly (readonly [string, string])[] = [
    ['fingerprint', entry.fingerprint],
    ['place', placeWords(entry)],
    ['contract', `${place.file}${place.pointer === '' ? '' : `#${place.pointer}`}`],
    ['first seen', `${timeWords(entry.firstSeenAt)} UTC`],
    ...Object.entries(entry.releases).map(([label, count]) => ['release', `${label}: ${count}`] as const),
    ...(entry.suggestion === undefined ? [] : [['suggestion', entry.suggestion] as const]),
    ...(accepted === undefined ? [] : [['acceptance', acceptedWords(accepted)] as const]),
    ...entry.samples.map(
      ({ requestId, found }) => ['request', `${requestId}${found === undefined ? '' : `: ${found}`}`] as const,
    ),
  ];
  return [
    `<tr><th scope="row"><code>${escapeMarkup(operationName(entry.operation))}</code></th>`,
    `<td class="state ${baselineState}">${escapeMarkup(state)}</td>`,
    `<td><details><summary>${escapeMarkup(entry.message)}</summary><dl>`,
    ...facts.map(([name, value]) => `<dt>${name}</dt><dd><code>${escapeMarkup(value)}</code></dd>`),
    '</dl></details></td>',
    `<td class="number">${entry.count}</td><td class="number">${escapeMarkup(shareWords(share))}</td>`,
    `<td class="number">${entry.callers}</td><td>${htmlTime(entry.lastSeenAt)}</td></tr>`,
  ].join('');
}

const acceptedWords = ({ owner, expires, reason }: AcceptedViolation): string =>
  `${owner}${expires === undefined ? '' : `, until ${expires}`}: ${reason}`;

function baselineSection(title: string, entries: readonly AcceptedViolation[]): string[] {
  if (entries.length === 0) return [];
  const rows = entries.map(
    ({ fingerprint, summary, reason, owner, expires }) =>
      `<tr><th scope="row"><code>${escapeMarkup(fingerprint)}</code></th><td>${escapeMarkup(summary ?? reason)}</td><td>${escapeMarkup(owner)}</td><td>${escapeMarkup(expires ?? '')}</td></tr>`,
  );
  return [
    `<h2>${title} (${entries.length})</h2>`,
    ...htmlTable(title, ['Fingerprint', 'Violation', 'Owner', 'Until'], rows),
  ];
}

function trafficSection({ traffic }: Report): string[] {
  if (traffic.length === 0) return [];
  const rows = traffic.map(
    ({ operation, release, requests }) =>
      `<tr><th scope="row"><code>${escapeMarkup(operationName(operation))}</code></th><td>${escapeMarkup(release)}</td><td class="number">${requests}</td></tr>`,
  );
  return ['<h2>Traffic</h2>', ...htmlTable('Requests in this report', ['Operation', 'Release', 'Requests'], rows)];
}

const COLUMNS = ['Operation', 'Baseline', 'Violation', 'Category', 'Share', 'Fingerprint'];

/** Renders a comparison as one page without external resources. */
export const renderComparedHtml: RenderComparison = (comparison, { version }) => {
  const groups = groupedByChange(comparison).flatMap(({ change, findings }) => {
    const title = `${CHANGE_WORDS[change]} (${findings.length})`;
    return [`<h2 id="${change}">${title}</h2>`].concat(htmlTable(title, COLUMNS, findings.map(rowOf)));
  });
  return htmlPage('Contract comparison', [
    `<p><strong>${escapeMarkup(comparisonWords(comparison))}</strong></p>`,
    `<p class="soft">Portico ${escapeMarkup(version)}, ${htmlTime(comparison.takenAt)} UTC</p>`,
    ...(groups.length === 0 ? [`<p>${NO_DIFFERENCE}</p>`] : groups),
  ]);
};

function rowOf(one: ComparedFinding): string {
  const { entry, baselineState } = one.finding;
  return [
    `<tr><th scope="row"><code>${escapeMarkup(operationName(entry.operation))}</code></th>`,
    `<td class="state ${baselineState}">${baselineState === 'new' ? 'not accepted' : baselineState}</td>`,
    `<td><code>${escapeMarkup(placeWords(entry))}</code><br>${escapeMarkup(entry.message)}</td>`,
    `<td>${entry.category}</td><td class="number">${escapeMarkup(changedShares(one))}</td>`,
    `<td><code>${escapeMarkup(entry.fingerprint)}</code></td></tr>`,
  ].join('');
}

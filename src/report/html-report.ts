import type { AcceptedViolation } from '../model/ledger-entry.ts';
import {
  CHANGE_WORDS,
  changedShares,
  type ComparedFinding,
  comparisonWords,
  groupedByChange,
  NO_DIFFERENCE,
  type RenderComparison,
} from './comparison.ts';
import { escapeMarkup } from './plain-text.ts';
import {
  CATEGORY_WORDS,
  countWords,
  operationName,
  placeWords,
  REPLICA_COLUMNS,
  replicaCells,
  shareWords,
  timeWords,
} from './report-words.ts';
import {
  type Finding,
  incidentSections,
  incompleteWords,
  type RenderReport,
  type Report,
  summaryWords,
} from './report.ts';

/** Renders a report as one HTML page without external resources. */
export const renderHtml: RenderReport = (report, { version }) =>
  htmlPage('Contract report', [
    `<p><strong>${escapeMarkup(summaryWords(report))}</strong></p>`,
    `<p class="soft">Portico ${escapeMarkup(version)}, ${htmlTime(report.takenAt)} UTC${releaseWords(report)}</p>`,
    ...incompleteWords(report).map((words) => `<p>${words}</p>`),
    ...report.groups.flatMap(({ category, findings }) => section(CATEGORY_WORDS[category], category, findings)),
    ...incidentSections(report).flatMap(({ id, title, findings }) => section(title, id, findings)),
    ...(report.candidates.length === 0
      ? []
      : section('Differences under the shadow contract', 'candidate', report.candidates)),
    ...baselineSection('Expired acceptances', report.expired),
    ...baselineSection('Accepted but no longer found', report.noLongerSeen),
    ...trafficSection(report),
    ...replicaSection(report),
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
  const details: readonly (readonly [string, string])[] = [
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
    ...details.map(([name, value]) => `<dt>${name}</dt><dd><code>${escapeMarkup(value)}</code></dd>`),
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

function replicaSection({ replicas = [] }: Report): string[] {
  if (replicas.length === 0) return [];
  const rows = replicas.map((row) => {
    const [name, release, seen, ...numbers] = replicaCells(row).map(escapeMarkup);
    const counts = numbers.map((number) => `<td class="number">${number}</td>`).join('');
    return `<tr><th scope="row"><code>${name}</code></th><td>${release}</td><td>${seen}</td>${counts}</tr>`;
  });
  return ['<h2>Gateways</h2>', ...htmlTable('Gateways that share the ledger, last 48 hours', REPLICA_COLUMNS, rows)];
}

const COLUMNS = ['Operation', 'Baseline', 'Violation', 'Category', 'Share', 'Fingerprint'];

/** Renders a comparison as one HTML page without external resources. */
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

/**
 * Returns an HTML page without external resources. It can be stored, sent by email and opened offline. `lines` are
 * HTML.
 */
function htmlPage(title: string, lines: readonly string[]): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    // This strict policy is part of the page, so it also applies when the page is opened as a local file or an email
    // attachment.
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeMarkup(title)}</title>`,
    `<style>${HTML_STYLE}</style>`,
    '</head>',
    '<body>',
    '<main>',
    `<h1>${escapeMarkup(title)}</h1>`,
    ...lines,
    '</main>',
    '</body>',
    '</html>',
  ].join('\n');
}

/** The columns that contain numbers. Their headers are aligned in the same way as the numbers. */
const NUMBERS = new Set(['Count', 'Share', 'Callers', 'Requests', 'Violations']);

/** Returns an HTML table. `rows` must already be HTML. */
function htmlTable(caption: string, names: readonly string[], rows: readonly string[]): readonly string[] {
  return [
    // On a narrow screen, the table can be scrolled with a pointing device or the keyboard.
    `<div class="wide" tabindex="0" role="region" aria-label="${escapeMarkup(caption)}">`,
    '<table>',
    `<caption>${escapeMarkup(caption)}</caption>`,
    `<thead><tr>${names.map((name) => `<th scope="col"${NUMBERS.has(name) ? ' class="number"' : ''}>${name}</th>`).join('')}</tr></thead>`,
    '<tbody>',
    ...rows,
    '</tbody>',
    '</table>',
    '</div>',
  ];
}

/** Formats an instant, given in epoch milliseconds, in UTC. */
const htmlTime = (at: number): string => `<time datetime="${new Date(at).toISOString()}">${timeWords(at)}</time>`;

/** The style sheet of the HTML report, which supports light and dark color schemes, screens and print. */
const HTML_STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --line: #d0d7de; --back: #ffffff; --head: #f6f8fa;
  --new: #a40e26; --accepted: #116329; --expired: #7a4d00; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #9ea7b3; --line: #3d444d; --back: #0d1117;
  --head: #161b22; --new: #ff8b80; --accepted: #6ad587; --expired: #e3b341; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 80rem; color: var(--text); background: var(--back);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0 .75rem; }
.soft, time { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; padding: .25rem 0; color: var(--soft); }
th, td { padding: .4rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { background: var(--head); }
tbody th { font-weight: 600; }
tbody th code { overflow-wrap: break-word; } time { white-space: nowrap; }
th.number, td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
code { font: .875em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.state { font-weight: 600; white-space: nowrap; }
.new { color: var(--new); } .accepted { color: var(--accepted); } .expired { color: var(--expired); }
summary { cursor: pointer; }
summary:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .75rem; margin: .25rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { body { padding: .75rem; } th, td { padding: .3rem .4rem; } dl { display: block; }
  dd { margin-bottom: .3rem; } td:has(details, br) { min-width: 13rem; } }
@media print { :root { --text: #000; --soft: #333; --line: #888; --back: #fff; --head: #eee; --new: #000; --accepted: #000;
  --expired: #000; } body { max-width: none; padding: 0; font-size: 9pt; } tr { break-inside: avoid; }
  thead { display: table-header-group; } .wide { overflow: visible; } }
`;

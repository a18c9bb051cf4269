import { hash } from 'node:crypto';
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
import { type Cause, groupByCause } from '../../engine/model/causes.ts';
import type { ReportSection } from '../../engine/model/report-section.ts';
import { otherPlaces, placeOf } from './other-places.ts';
import { escapeMarkup } from '../../lib/plain-text.ts';
import { CATEGORY_WORDS, operationName, placeWords, REPLICA_COLUMNS, replicaCells, timeWords } from './report-words.ts';
import { shareWords } from '../../lib/share-words.ts';
import {
  type Finding,
  incidentSections,
  incompleteWords,
  type RenderReport,
  type Report,
  summaryWords,
} from './report.ts';

/** Renders a report as one HTML page without external resources. Its tables can be sorted and filtered. */
export const renderHtml: RenderReport = (report, { version }) => {
  const sections = report.sections.flatMap(sectionLines);
  const made = `<p class="soft">Portico ${escapeMarkup(version)}, ${htmlTime(report.takenAt)} UTC${releaseWords(report)}</p>`;
  if (report.isSectionsOnly === true)
    return htmlPage(report.sections.map((one) => one.title).join(', '), [made, ...sections]);
  return htmlPage('Contract report', [
    `<p><strong>${escapeMarkup(summaryWords(report))}</strong></p>`,
    made,
    ...incompleteWords(report).map((words) => `<p>${words}</p>`),
    ...violationSection(report),
    ...incidentSections(report).flatMap(({ id, title, findings }) => section(title, id, findings)),
    ...section('Differences under the shadow contract', 'candidate', report.shadowDifferences),
    ...baselineSection('Expired acceptances', report.expired),
    ...baselineSection('Accepted but no longer found', report.noLongerSeen),
    ...trafficSection(report),
    ...replicaSection(report),
    ...sections,
  ]);
};

function sectionLines({ id, title, text, tables }: ReportSection): string[] {
  return [
    `<h2 id="${id}">${escapeMarkup(title)}</h2>`,
    ...text.map((words) => `<p>${escapeMarkup(words)}</p>`),
    ...tables.flatMap(({ title: name, columns, rows, empty }, index) => {
      const heading = `${id}-${index + 1}`;
      const cells = rows.map(
        (row) =>
          `<tr>${row.map((cell, at) => `<td${columns[at]?.isNumber === true ? ' class="number"' : ''}>${escapeMarkup(cell)}</td>`).join('')}</tr>`,
      );
      const names = columns.map((column) => escapeMarkup(column.title));
      const numeric = new Set(names.filter((_, at) => columns[at]?.isNumber === true));
      return [
        `<h3 id="${heading}">${escapeMarkup(name)} (${rows.length})</h3>`,
        ...(rows.length === 0 ? [`<p>${escapeMarkup(empty)}</p>`] : htmlTable(heading, names, cells, numeric)),
      ];
    }),
  ];
}

const releaseWords = ({ releases }: Report): string =>
  releases.length === 0
    ? ''
    : escapeMarkup(`, ${releases.length === 1 ? 'release' : 'releases'} ${releases.join(', ')}`);

const FINDING_COLUMNS = ['Category', 'Operation', 'State', 'Violation', 'Count', 'Share', 'Callers', 'Last seen'];

/** Returns one table of all violations, so that they can be sorted and filtered together. */
function violationSection({ groups }: Report): string[] {
  const findings = groups.flatMap((group) => group.findings);
  if (findings.length === 0) return [];
  const categories = groups.map(({ category }) => [category, CATEGORY_WORDS[category]] as const);
  const states = [...new Set(findings.map(({ baselineState }) => baselineState))].map((one) => [one, one] as const);
  return [
    `<h2 id="violations">Violations (${findings.length})</h2>`,
    // The script shows the filters. Without scripts, the page is complete, but cannot be filtered.
    '<form class="filters" hidden aria-label="Filters">',
    '<label>Search <input type="search" name="text"></label>',
    ...optionsOf('Category', 'category', categories),
    ...optionsOf('State', 'state', states),
    '<output></output>',
    '</form>',
    ...findingTable('violations', findings),
  ];
}

function optionsOf(
  title: string,
  name: string,
  values: readonly (readonly [value: string, words: string])[],
): string[] {
  const options = values.map(([value, words]) => `<option value="${value}">${escapeMarkup(words)}</option>`);
  return [`<label>${title} <select name="${name}"><option value="">all</option>${options.join('')}</select></label>`];
}

function section(title: string, id: string, findings: readonly Finding[]): string[] {
  if (findings.length === 0) return [];
  return [`<h2 id="${id}">${escapeMarkup(title)} (${findings.length})</h2>`, ...findingTable(id, findings)];
}

const self = (finding: Finding): Finding => finding;

function findingTable(id: string, findings: readonly Finding[]): readonly string[] {
  return htmlTable(id, FINDING_COLUMNS, groupByCause(findings, self).map(findingRow));
}

function findingRow({ first, others, count }: Cause<Finding>): string {
  const { entry, baselineState, share, accepted, place } = first;
  const state = entry.candidate ?? baselineState;
  const details: readonly (readonly [string, string])[] = [
    ['fingerprint', entry.fingerprint],
    ['place', placeWords(entry)],
    ['contract', `${place.file}${place.pointer === '' ? '' : `#${place.pointer}`}`],
    ['first seen', `${timeWords(entry.firstSeenAt)} UTC`],
    ...Object.entries(entry.releases).map(([label, number]) => ['release', `${label}: ${number}`] as const),
    ...(entry.suggestion === undefined ? [] : [['suggestion', entry.suggestion] as const]),
    ...(accepted === undefined ? [] : [['acceptance', acceptedWords(accepted)] as const]),
    ...entry.samples.map(
      ({ requestId, found }) => ['request', `${requestId}${found === undefined ? '' : `: ${found}`}`] as const,
    ),
    ...others.map((other) => ['same cause', placeOf(other)] as const),
  ];
  const places = others.length === 0 ? '' : ` <span class="soft">(in ${others.length + 1} places)</span>`;
  return [
    `<tr data-category="${entry.category}" data-state="${baselineState}"><td>${escapeMarkup(CATEGORY_WORDS[entry.category])}</td>`,
    `<th scope="row"><code>${escapeMarkup(operationName(entry.operation))}</code></th>`,
    `<td class="state ${baselineState}">${escapeMarkup(state)}</td>`,
    `<td><details><summary>${escapeMarkup(entry.message)}${places}</summary><dl>`,
    ...details.map(([name, value]) => `<dt>${name}</dt><dd><code>${escapeMarkup(value)}</code></dd>`),
    '</dl></details></td>',
    `<td class="number">${count}</td>`,
    `<td class="number" data-value="${share ?? -1}">${escapeMarkup(shareWords(share))}</td>`,
    `<td class="number">${entry.callers}</td>`,
    `<td data-value="${entry.lastSeenAt}">${htmlTime(entry.lastSeenAt)}</td></tr>`,
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
    `<h2 id="${idOf(title)}">${title} (${entries.length})</h2>`,
    ...htmlTable(idOf(title), ['Fingerprint', 'Violation', 'Owner', 'Until'], rows),
  ];
}

function trafficSection({ traffic }: Report): string[] {
  if (traffic.length === 0) return [];
  const rows = traffic.map(
    ({ operation, release, requests }) =>
      `<tr><th scope="row"><code>${escapeMarkup(operationName(operation))}</code></th><td>${escapeMarkup(release)}</td><td class="number">${requests}</td></tr>`,
  );
  return ['<h2 id="traffic">Traffic</h2>', ...htmlTable('traffic', ['Operation', 'Release', 'Requests'], rows)];
}

function replicaSection({ replicas = [] }: Report): string[] {
  if (replicas.length === 0) return [];
  const rows = replicas.map((row) => {
    const [name, release, seen, ...numbers] = replicaCells(row).map(escapeMarkup);
    const counts = numbers.map((number) => `<td class="number">${number}</td>`).join('');
    return `<tr><th scope="row"><code>${name}</code></th><td>${release}</td><td>${seen}</td>${counts}</tr>`;
  });
  return [
    '<h2 id="gateways">Gateways that share the ledger, last 48 hours</h2>',
    ...htmlTable('gateways', REPLICA_COLUMNS, rows),
  ];
}

const COLUMNS = ['Operation', 'Baseline', 'Violation', 'Category', 'Change', 'Fingerprint'];

/** Renders a comparison as one HTML page without external resources. */
export const renderComparedHtml: RenderComparison = (comparison, { version }) => {
  const groups = groupedByChange(comparison).flatMap(({ change, findings }) => {
    const title = `${CHANGE_WORDS[change]} (${findings.length})`;
    const rows = groupByCause(findings, comparedOf).map(rowOf);
    return [`<h2 id="${change}">${title}</h2>`].concat(htmlTable(change, COLUMNS, rows));
  });
  return htmlPage('Contract comparison', [
    `<p><strong>${escapeMarkup(comparisonWords(comparison))}</strong></p>`,
    `<p class="soft">Portico ${escapeMarkup(version)}, ${htmlTime(comparison.takenAt)} UTC</p>`,
    ...(groups.length === 0 ? [`<p>${NO_DIFFERENCE}</p>`] : groups),
  ]);
};

const comparedOf = ({ finding }: ComparedFinding): Finding => finding;

function rowOf(cause: Cause<ComparedFinding>): string {
  const one = cause.first;
  const { entry, baselineState } = one.finding;
  const others = otherPlaces(cause, comparedOf);
  return [
    `<tr><th scope="row"><code>${escapeMarkup(operationName(entry.operation))}</code></th>`,
    `<td class="state ${baselineState}">${baselineState === 'new' ? 'not accepted' : baselineState}</td>`,
    `<td><code>${escapeMarkup(placeWords(entry))}</code><br>${escapeMarkup(entry.message)}${others === undefined ? '' : `<br>${escapeMarkup(others)}`}</td>`,
    `<td>${entry.category}</td><td>${escapeMarkup(changedShares(one))}</td>`,
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
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src '${SCRIPT_HASH}'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeMarkup(title)}</title>`,
    `<style>${HTML_STYLE}</style>`,
    '</head>',
    '<body>',
    '<main>',
    `<h1>${escapeMarkup(title)}</h1>`,
    ...lines,
    '</main>',
    `<script>${HTML_SCRIPT}</script>`,
    '</body>',
    '</html>',
  ].join('\n');
}

/** The columns of reports about violations that contain numbers. Their headers are aligned in the same way as the numbers. */
const NUMBERS = new Set(['Count', 'Share', 'Callers', 'Requests', 'Violations']);

const idOf = (title: string): string => title.toLowerCase().replaceAll(' ', '-');

/** Returns the classes of a column's header, which determine its width and alignment. */
const classOf = (name: string, numeric: ReadonlySet<string>): string =>
  `column-${idOf(name)}${numeric.has(name) ? ' number' : ''}`;

/**
 * Returns an HTML table. The heading with the given id is its name. `rows` must already be HTML. Columns of the same
 * name have the same width in every table.
 */
function htmlTable(
  heading: string,
  names: readonly string[],
  rows: readonly string[],
  numeric: ReadonlySet<string> = NUMBERS,
): readonly string[] {
  return [
    // On a narrow screen, the table can be scrolled with a pointing device or the keyboard.
    `<div class="wide" tabindex="0" role="region" aria-labelledby="${heading}">`,
    `<table aria-labelledby="${heading}">`,
    `<thead><tr>${names.map((name) => `<th scope="col" class="${classOf(name, numeric)}">${name}</th>`).join('')}</tr></thead>`,
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
table { table-layout: fixed; } table:has(.column-violation) { min-width: 70rem; }
.column-category { width: 8.5rem; } .column-operation { width: 11.5rem; } .column-state { width: 6.5rem; }
.column-baseline { width: 8.5rem; } .column-change { width: 11rem; }
.column-count, .column-callers { width: 5.5rem; } .column-share { width: 6.5rem; } .column-last-seen { width: 9.75rem; }
.column-requests, .column-violations { width: 7.5rem; } .column-fingerprint { width: 12rem; }
.column-owner, .column-until { width: 10rem; }
.filters { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: baseline; margin: 0 0 .75rem; }
.filters[hidden] { display: none; }
.filters input, .filters select { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--soft);
  border-radius: .25rem; padding: .15rem .4rem; }
thead button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
thead button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
th[aria-sort=ascending] button::after { content: ' \\2191'; } th[aria-sort=descending] button::after { content: ' \\2193'; }
th, td { padding: .4rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { background: var(--head); }
tbody th { font-weight: 600; }
td.number { white-space: nowrap; } tbody th code { overflow-wrap: break-word; } time { white-space: nowrap; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; }
code { font: .875em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.state { font-weight: 600; white-space: nowrap; }
.new { color: var(--new); } .accepted { color: var(--accepted); } .expired { color: var(--expired); }
summary { cursor: pointer; }
summary:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
td, th { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .75rem; margin: .25rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { body { padding: .75rem; } th, td { padding: .3rem .4rem; } dl { display: block; }
  dd { margin-bottom: .3rem; } td:has(details, br) { min-width: 13rem; } }
@media print { :root { --text: #000; --soft: #333; --line: #888; --back: #fff; --head: #eee; --new: #000; --accepted: #000;
  --expired: #000; } body { max-width: none; padding: 0; font-size: 9pt; } tr { break-inside: avoid; }
  thead { display: table-header-group; } .wide { overflow: visible; } }
`;

/**
 * Makes the columns sortable and shows the filters. The script is part of the page and reads nothing else; the policy
 * permits only this text.
 */
const HTML_SCRIPT = `
for (const table of document.querySelectorAll('table')) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    const valueOf = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    button.addEventListener('click', () => {
      const isNumber = [...body.rows].every((row) => valueOf(row) !== '' && !Number.isNaN(Number(valueOf(row))));
      const current = head.getAttribute('aria-sort');
      const order = current === null ? (isNumber ? 'descending' : 'ascending') : current === 'ascending' ? 'descending' : 'ascending';
      heads.forEach((one) => one.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', order);
      const sign = order === 'ascending' ? 1 : -1;
      const compare = (a, b) => (isNumber ? Number(a) - Number(b) : a.localeCompare(b, 'en'));
      body.append(...[...body.rows].sort((a, b) => sign * compare(valueOf(a), valueOf(b))));
    });
  });
}
const form = document.querySelector('.filters');
if (form !== null) {
  const rows = [...document.querySelector('table[aria-labelledby=violations]').tBodies[0].rows];
  const apply = () => {
    const text = form.elements.text.value.toLowerCase();
    const { value: category } = form.elements.category;
    const { value: state } = form.elements.state;
    let shown = 0;
    for (const row of rows) {
      const { dataset } = row;
      row.hidden = !((category === '' || dataset.category === category) && (state === '' || dataset.state === state) &&
        row.textContent.toLowerCase().includes(text));
      if (!row.hidden) shown += 1;
    }
    form.querySelector('output').value = shown + ' of ' + rows.length + ' entries shown';
  };
  form.addEventListener('input', apply);
  form.addEventListener('submit', (event) => event.preventDefault());
  form.hidden = false;
  apply();
}
`;

const SCRIPT_HASH = `sha256-${hash('sha256', HTML_SCRIPT, 'base64')}`;

import type { AcceptedViolation } from '../../engine/model/ledger-entry.ts';
import {
  CHANGE_WORDS,
  changedShares,
  type ComparedFinding,
  type Comparison,
  comparisonWords,
  groupedByChange,
  NO_DIFFERENCE,
} from './comparison.ts';
import { type Cause, groupByCause } from '../../engine/model/causes.ts';
import type { ReportSection } from '../../engine/model/report-section.ts';
import { otherPlaces } from './other-places.ts';
import { plainText } from '../../lib/plain-text.ts';
import {
  type Finding,
  incidentSections,
  incompleteWords,
  isNew,
  type RenderReport,
  type Report,
  summaryWords,
} from './report.ts';
import { CATEGORY_WORDS, operationName, placeWords, REPLICA_COLUMNS, replicaCells } from './report-words.ts';
import { shareWords } from '../../lib/share-words.ts';

/** The maximum length of a pull request comment, minus some space for text before and after the report. */
const MAX_CHARACTERS = 60_000;

/** Renders a report that is short enough for a pull request comment. Accepted violations are collapsed. */
export const renderMarkdown: RenderReport = (report) => {
  const sections = report.sections.flatMap(sectionLines);
  if (report.isSectionsOnly === true) return bounded(sections.slice(1));
  const lines = [
    '## Contract report',
    '',
    `**${escapeMarkdown(summaryWords(report))}**`,
    ...incompleteWords(report).flatMap((words) => ['', words]),
    ...report.groups.flatMap(({ category, findings }) => groupLines(CATEGORY_WORDS[category], findings.filter(isNew))),
    ...incidentSections(report).flatMap(({ title, findings }) => groupLines(title, findings)),
    ...groupLines('Differences under the shadow contract', report.shadowDifferences),
    ...folded('Accepted', acceptedTable(report)),
    ...folded('Expired acceptances', baselineTable(report.expired)),
    ...folded('Accepted but no longer found', baselineTable(report.noLongerSeen)),
    ...folded('Gateways', replicaTable(report)),
    ...sections,
  ];
  return bounded(lines);
};

function sectionLines({ title, text, tables }: ReportSection): string[] {
  return [
    '',
    `## ${escapeMarkdown(title)}`,
    ...text.flatMap((words) => ['', escapeMarkdown(words)]),
    ...tables.flatMap(({ title: name, columns, rows, empty }) => [
      '',
      `### ${name} (${rows.length})`,
      '',
      ...(rows.length === 0
        ? [empty]
        : [
            `| ${columns.map((column) => column.title).join(' | ')} |`,
            `| ${columns.map(({ isNumber }) => (isNumber === true ? '---:' : '---')).join(' | ')} |`,
            ...rows.map((row) => `| ${row.map(escapeMarkdown).join(' | ')} |`),
          ]),
    ]),
  ];
}

const COMPARISON_HEAD = [
  '',
  '| Operation | Violation | Category | Share | Fingerprint |',
  '| --- | --- | --- | ---: | --- |',
];

/** Renders a comparison as Markdown for a pull request comment. */
export function renderComparedMarkdown(comparison: Comparison): string {
  const groups = groupedByChange(comparison).flatMap(({ change, findings }) =>
    ['', `### ${CHANGE_WORDS[change]} (${findings.length})`].concat(
      COMPARISON_HEAD,
      groupByCause(findings, comparedOf).map(comparedRow),
    ),
  );
  const title = ['## Contract comparison', '', `**${escapeMarkdown(comparisonWords(comparison))}**`];
  return title.concat(groups.length === 0 ? ['', NO_DIFFERENCE] : groups).join('\n');
}

const comparedOf = ({ finding }: ComparedFinding): Finding => finding;

/** Names the other violations with the same cause. */
function othersOf<T>(cause: Cause<T>, findingOf: (item: T) => Finding): string {
  const words = otherPlaces(cause, findingOf);
  return words === undefined ? '' : `<br>${escapeMarkdown(words)}`;
}

function comparedRow(cause: Cause<ComparedFinding>): string {
  const one = cause.first;
  const { entry } = one.finding;
  const words = `${markdownCode(placeWords(entry))}<br>${escapeMarkdown(entry.message)}${othersOf(cause, comparedOf)}`;
  return `| ${markdownCode(operationName(entry.operation))} | ${words} | ${entry.category} | ${escapeMarkdown(changedShares(one))} | ${markdownCode(entry.fingerprint)} |`;
}

const HEAD = ['| Operation | Violation | Count | Share | Fingerprint |', '| --- | --- | ---: | ---: | --- |'];

function groupLines(title: string, findings: readonly Finding[]): string[] {
  if (findings.length === 0) return [];
  return ['', `### ${title} (${findings.length})`, '', ...HEAD, ...groupByCause(findings, self).map(findingRow)];
}

const self = (finding: Finding): Finding => finding;

function findingRow(cause: Cause<Finding>): string {
  const { entry, share, baselineState } = cause.first;
  const mark = baselineState === 'expired' ? ' (acceptance expired)' : '';
  const hint = entry.suggestion === undefined ? '' : `<br>${escapeMarkdown(entry.suggestion)}`;
  return `| ${[
    markdownCode(operationName(entry.operation)),
    `${markdownCode(placeWords(entry))}<br>${escapeMarkdown(entry.message)}${mark}${hint}${othersOf(cause, self)}`,
    String(cause.count),
    escapeMarkdown(shareWords(share)),
    markdownCode(entry.fingerprint),
  ].join(' | ')} |`;
}

function acceptedTable({ groups }: Report): string[] {
  const accepted = groups.flatMap(({ findings }) => findings).filter((finding) => !isNew(finding));
  if (accepted.length === 0) return [];
  return [
    '| Operation | Violation | Count | Reason | Owner | Until |',
    '| --- | --- | ---: | --- | --- | --- |',
    ...accepted.map(
      ({ entry, accepted: by }) =>
        `| ${[
          markdownCode(operationName(entry.operation)),
          escapeMarkdown(entry.message),
          String(entry.count),
          escapeMarkdown(by?.reason ?? ''),
          escapeMarkdown(by?.owner ?? ''),
          escapeMarkdown(by?.expires ?? ''),
        ].join(' | ')} |`,
    ),
  ];
}

function baselineTable(entries: readonly AcceptedViolation[]): string[] {
  if (entries.length === 0) return [];
  return [
    '| Fingerprint | Violation | Owner | Until |',
    '| --- | --- | --- | --- |',
    ...entries.map(
      ({ fingerprint, summary, reason, owner, expires }) =>
        `| ${[
          markdownCode(fingerprint),
          escapeMarkdown(summary ?? reason),
          escapeMarkdown(owner),
          escapeMarkdown(expires ?? ''),
        ].join(' | ')} |`,
    ),
  ];
}

function replicaTable({ replicas = [] }: Report): string[] {
  if (replicas.length === 0) return [];
  return [
    `| ${REPLICA_COLUMNS.join(' | ')} |`,
    '| --- | --- | --- | ---: | ---: |',
    ...replicas.map((row) => `| ${replicaCells(row).map(escapeMarkdown).join(' | ')} |`),
  ];
}

function folded(title: string, table: readonly string[]): string[] {
  if (table.length === 0) return [];
  return ['', `<details><summary>${title} (${table.length - 2})</summary>`, '', ...table, '', '</details>'];
}

/** Shortens a report that is too long by cutting it off at the end of a row and adding a note. */
function bounded(lines: readonly string[]): string {
  const included: string[] = [];
  let length = 0;
  for (const line of lines) {
    length += line.length + 1;
    if (length > MAX_CHARACTERS) {
      const open =
        included.filter((one) => one.startsWith('<details>')).length >
        included.filter((one) => one === '</details>').length;
      return [
        ...included,
        '',
        ...(open ? ['</details>', ''] : []),
        'This report is truncated. The HTML and JSON reports are complete.',
      ].join('\n');
    }
    included.push(line);
  }
  return included.join('\n');
}

/** Escapes text for a Markdown table cell, so that it cannot be interpreted as markup, links, mentions or HTML. */
function escapeMarkdown(text: string): string {
  return (
    plainText(text)
      .replaceAll(/[\\`*_{}[\]()#+!|~^$-]/g, String.raw`\$&`)
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      // Code hosts turn plain text into mentions, references and links. An empty HTML comment prevents this.
      .replaceAll('@', '@<!-- -->')
      .replaceAll(String.raw`\#`, String.raw`\#<!-- -->`)
      .replaceAll('://', '&#58;//')
      .replaceAll('www.', 'www&#46;')
  );
}

/** Formats text as code in a Markdown table cell. */
function markdownCode(text: string): string {
  if (text === '') return '';
  return `<code>${escapeMarkdown(text)}</code>`;
}

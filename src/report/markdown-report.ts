import type { AcceptedViolation } from '../model/ledger-entry.ts';
import { escapeMarkdown, markdownCode } from './plain-text.ts';
import type { RenderReport } from './render-options.ts';
import { type Finding, isNew, type Report } from './report.ts';
import { CATEGORY_WORDS, countWords, operationName, placeWords, shareWords, summaryWords } from './report-words.ts';

/** What a comment on a pull request may hold, with room for what others put around it. */
const MAX_CHARACTERS = 60_000;

/** A report that fits into a comment on a pull request; what is accepted is folded away. */
export const renderMarkdown: RenderReport = (report) => {
  const lines = [
    '## Contract report',
    '',
    `**${escapeMarkdown(summaryWords(report))}**`,
    ...(report.dropped === 0
      ? []
      : ['', `The ledger dropped ${countWords(report.dropped, 'piece')}: this report is not complete.`]),
    ...report.groups.flatMap(({ category, findings }) => groupLines(CATEGORY_WORDS[category], findings.filter(isNew))),
    ...groupLines('What the candidate contract would change', report.candidates),
    ...folded('Accepted', acceptedTable(report)),
    ...folded('Acceptances that have expired', baselineTable(report.expired)),
    ...folded('Accepted and no longer seen', baselineTable(report.noLongerSeen)),
  ];
  return bounded(lines);
};

const HEAD = ['| Operation | Violation | Count | Share | Fingerprint |', '| --- | --- | ---: | ---: | --- |'];

function groupLines(title: string, findings: readonly Finding[]): string[] {
  if (findings.length === 0) return [];
  return ['', `### ${title} (${findings.length})`, '', ...HEAD, ...findings.map(findingRow)];
}

function findingRow({ entry, share, standing }: Finding): string {
  const mark = standing === 'expired' ? ' (acceptance expired)' : '';
  const hint = entry.suggestion === undefined ? '' : `<br>${escapeMarkdown(entry.suggestion)}`;
  return `| ${[
    markdownCode(operationName(entry.operation)),
    `${markdownCode(placeWords(entry))}<br>${escapeMarkdown(entry.message)}${mark}${hint}`,
    String(entry.count),
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
    '| Fingerprint | What | Owner | Until |',
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

function folded(title: string, table: readonly string[]): string[] {
  if (table.length === 0) return [];
  return ['', `<details><summary>${title} (${table.length - 2})</summary>`, '', ...table, '', '</details>'];
}

/** Ends early rather than being refused by the host, and says so; never inside a row. */
function bounded(lines: readonly string[]): string {
  const kept: string[] = [];
  let length = 0;
  for (const line of lines) {
    length += line.length + 1;
    if (length > MAX_CHARACTERS) {
      const open =
        kept.filter((one) => one.startsWith('<details>')).length > kept.filter((one) => one === '</details>').length;
      return [
        ...kept,
        '',
        ...(open ? ['</details>', ''] : []),
        'The rest is left out here: the HTML and the JSON report hold all of it.',
      ].join('\n');
    }
    kept.push(line);
  }
  return kept.join('\n');
}

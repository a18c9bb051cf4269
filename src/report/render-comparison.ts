import {
  CHANGE_WORDS,
  changedShares,
  CHANGES,
  type ComparedFinding,
  type Comparison,
  comparisonWords,
  groupedByChange,
  NO_DIFFERENCE,
} from './comparison.ts';
import { jsonText, REPORT_SCHEMA, REPORT_VERSION, toJsonFinding } from './json-report.ts';
import { createPaint, wrapText, escapeMarkdown, markdownCode, plainText } from './plain-text.ts';
import type { RenderOptions } from './render-options.ts';
import { operationName, placeWords } from './report-words.ts';

/** Renders a comparison as a table for terminals. */
export function renderComparedTable(comparison: Comparison, { columns, colors }: RenderOptions): string {
  const width = Math.min(120, Math.max(80, columns));
  const paint = createPaint(colors);
  const groups = groupedByChange(comparison).flatMap(({ change, findings }) => {
    const head = ['', paint('bold', `${CHANGE_WORDS[change]} (${findings.length})`)];
    return head.concat(findings.flatMap((one) => tableLines(one, width)));
  });
  const title = wrapText(plainText(comparisonWords(comparison)), width).map((line) => paint('bold', line));
  return title.concat(groups.length === 0 ? NO_DIFFERENCE : groups).join('\n');
}

function tableLines(one: ComparedFinding, width: number): string[] {
  const { entry } = one.finding;
  const place = `${operationName(entry.operation)}, ${placeWords(entry)}: ${entry.message}`;
  const text = plainText(`${entry.fingerprint}  ${changedShares(one)}  ${entry.category}  ${place}`);
  return wrapText(text, width - 4).map((line, at) => `${at === 0 ? '  ' : '    '}${line}`);
}

const COLUMNS = ['', '| Operation | Violation | Category | Share | Fingerprint |', '| --- | --- | --- | ---: | --- |'];

/** Renders a comparison as Markdown, for a comment. */
export function renderComparedMarkdown(comparison: Comparison): string {
  const groups = groupedByChange(comparison).flatMap(({ change, findings }) =>
    ['', `### ${CHANGE_WORDS[change]} (${findings.length})`].concat(COLUMNS, findings.map(markdownRow)),
  );
  const title = ['## Contract comparison', '', `**${escapeMarkdown(comparisonWords(comparison))}**`];
  return title.concat(groups.length === 0 ? ['', NO_DIFFERENCE] : groups).join('\n');
}

function markdownRow(one: ComparedFinding): string {
  const { entry } = one.finding;
  const words = `${markdownCode(placeWords(entry))}<br>${escapeMarkdown(entry.message)}`;
  return `| ${markdownCode(operationName(entry.operation))} | ${words} | ${entry.category} | ${escapeMarkdown(changedShares(one))} | ${markdownCode(entry.fingerprint)} |`;
}

/** Renders a comparison as JSON. */
export function renderComparedJson({ before, after, findings }: Comparison): string {
  const changes = CHANGES.map((change) => [change, findings.filter((one) => one.change === change).map(jsonRow)]);
  return jsonText({
    $schema: REPORT_SCHEMA,
    version: REPORT_VERSION,
    kind: 'comparison',
    before,
    after,
    ...Object.fromEntries(changes),
  });
}

const jsonRow = ({ finding, before, after, unasked }: ComparedFinding) =>
  Object.assign(toJsonFinding(finding), { before: sideOf(before), after: sideOf(after), unasked });

const sideOf = (finding: ComparedFinding['before']) =>
  finding === undefined ? null : { count: finding.entry.count, share: finding.share ?? null };

import type { Change, ComparedFinding, Comparison } from './comparison.ts';
import { jsonText } from './json-text.ts';
import { REPORT_SCHEMA, REPORT_VERSION, toJsonFinding } from './json-report.ts';
import { createPaint } from './paint.ts';
import { escapeMarkdown, markdownCode, plainText } from './plain-text.ts';
import type { RenderOptions } from './render-options.ts';
import { countWords, operationName, placeWords, shareWords } from './report-words.ts';
import { wrapText } from './wrap-text.ts';

/** What each change is called. */
const WORDS: Readonly<Record<Change, string>> = {
  new: 'New',
  more: 'More frequent',
  less: 'Less frequent',
  gone: 'Gone',
  same: 'About as frequent',
};

const CHANGES = Object.keys(WORDS) as readonly Change[];

const NOTHING = 'No violations on either side.';

/** Makes the text of a comparison. */
export type RenderComparison = (comparison: Comparison, options: RenderOptions) => string;

/** The formats of a comparison, by name. */
export const COMPARISON_FORMATS: ReadonlyMap<string, RenderComparison> = new Map<string, RenderComparison>([
  ['table', renderTable],
  ['markdown', renderMarkdown],
  ['json', renderJson],
]);

const headline = ({ before, after }: Comparison): string =>
  `${before.label} (${countWords(before.requests, 'request')}) → ${after.label} (${countWords(after.requests, 'request')})`;

const shares = ({ before, after }: ComparedFinding): string =>
  `${before === undefined ? '–' : shareWords(before.share)} → ${after === undefined ? '–' : shareWords(after.share)}`;

const grouped = ({ findings }: Comparison) =>
  CHANGES.map((change) => ({ change, findings: findings.filter((one) => one.change === change) })).filter(
    (group) => group.findings.length > 0,
  );

function renderTable(comparison: Comparison, { columns, colours }: RenderOptions): string {
  const width = Math.min(120, Math.max(80, columns));
  const paint = createPaint(colours);
  const groups = grouped(comparison).flatMap(({ change, findings }) => {
    const head = ['', paint('bold', `${WORDS[change]} (${findings.length})`)];
    return head.concat(findings.flatMap((one) => tableLines(one, width)));
  });
  const title = wrapText(plainText(headline(comparison)), width).map((line) => paint('bold', line));
  return title.concat(groups.length === 0 ? NOTHING : groups).join('\n');
}

function tableLines(one: ComparedFinding, width: number): string[] {
  const { entry } = one.finding;
  const place = `${operationName(entry.operation)}, ${placeWords(entry)}: ${entry.message}`;
  const text = plainText(`${entry.fingerprint}  ${shares(one)}  ${entry.category}  ${place}`);
  return wrapText(text, width - 4).map((line, at) => `${at === 0 ? '  ' : '    '}${line}`);
}

const MARKDOWN_HEAD = [
  '',
  '| Operation | Violation | Category | Share | Fingerprint |',
  '| --- | --- | --- | ---: | --- |',
];

function renderMarkdown(comparison: Comparison): string {
  const groups = grouped(comparison).flatMap(({ change, findings }) =>
    ['', `### ${WORDS[change]} (${findings.length})`].concat(MARKDOWN_HEAD, findings.map(markdownRow)),
  );
  const title = ['## Contract comparison', '', `**${escapeMarkdown(headline(comparison))}**`];
  return title.concat(groups.length === 0 ? ['', NOTHING] : groups).join('\n');
}

function markdownRow(one: ComparedFinding): string {
  const { entry } = one.finding;
  const words = `${markdownCode(placeWords(entry))}<br>${escapeMarkdown(entry.message)}`;
  return `| ${markdownCode(operationName(entry.operation))} | ${words} | ${entry.category} | ${escapeMarkdown(shares(one))} | ${markdownCode(entry.fingerprint)} |`;
}

function renderJson(comparison: Comparison): string {
  const of = (change: Change) =>
    comparison.findings
      .filter((one) => one.change === change)
      .map(({ finding, before, after }) =>
        Object.assign(toJsonFinding(finding), { before: sideOf(before), after: sideOf(after) }),
      );
  return jsonText({
    $schema: REPORT_SCHEMA,
    version: REPORT_VERSION,
    kind: 'comparison',
    before: comparison.before,
    after: comparison.after,
    ...Object.fromEntries(CHANGES.map((change) => [change, of(change)])),
  });
}

const sideOf = (finding: ComparedFinding['before']) =>
  finding === undefined ? null : { count: finding.entry.count, share: finding.share ?? null };

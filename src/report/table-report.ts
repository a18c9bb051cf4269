import type { AcceptedViolation } from '../model/ledger-entry.ts';
import { plainText } from './plain-text.ts';
import type { RenderReport } from './render-options.ts';
import {
  CATEGORY_WORDS,
  countWords,
  operationName,
  placeWords,
  shareWords,
  summaryWords,
  timeWords,
} from './report-words.ts';
import { type Finding, findingsOf, isNew, type Report } from './report.ts';
import { createPaint, type Paint, wrapText } from './text-layout.ts';

const MIN_COLUMNS = 80;
const MAX_COLUMNS = 120;
const INDENT = '            ';

/** A report for a terminal: a table for each category, worst first, in 80 to 120 columns. */
export const renderTable: RenderReport = (report, { columns, colours }) => {
  const width = Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, columns));
  const paint = createPaint(colours);
  return [
    ...wrapText(plainText(summaryWords(report)), width).map((line) => paint('bold', line)),
    ...droppedLines(report, width),
    ...report.groups.flatMap(({ category, findings }) => [
      '',
      paint('bold', `${CATEGORY_WORDS[category]} (${category}, ${findings.length})`),
      paint('dim', headLine(width)),
      ...findings.flatMap((finding) => findingLines(finding, width, paint)),
    ]),
    ...candidateLines(report, width, paint),
    ...baselineLines('Acceptances that have expired', report.expired, width, paint),
    ...baselineLines('Accepted and no longer seen', report.noLongerSeen, width, paint),
    ...hintLines(report, width),
  ].join('\n');
};

const row = (cells: readonly [string, string, string, string, string, string], width: number): string => {
  const [state, operation, count, share, seen, fingerprint] = cells;
  const wide = width - 60;
  const name = operation.length > wide ? `${operation.slice(0, wide - 1)}…` : operation.padEnd(wide);
  return `  ${state.padEnd(8)}  ${name} ${count.padStart(8)} ${share.padStart(8)}  ${seen.padEnd(10)}  ${fingerprint}`;
};

const headLine = (width: number): string =>
  row(['state', 'operation', 'count', 'share', 'last seen', 'fingerprint'], width);

function findingLines({ entry, standing, share, accepted }: Finding, width: number, paint: Paint): string[] {
  const cells = row(
    [
      standing,
      plainText(operationName(entry.operation)),
      String(entry.count),
      shareWords(share),
      timeWords(entry.lastSeenAt).slice(0, 10),
      plainText(entry.fingerprint),
    ],
    width,
  );
  const colour = standing === 'new' ? 'red' : standing === 'expired' ? 'yellow' : 'green';
  const notes = [
    `${placeWords(entry)}: ${entry.message}`,
    ...(entry.suggestion === undefined ? [] : [`Suggestion: ${entry.suggestion}`]),
    ...(accepted === undefined ? [] : [acceptedWords(accepted)]),
  ];
  return [
    paint(colour, cells),
    ...notes.flatMap((note) => wrapText(plainText(note), width - INDENT.length).map((line) => INDENT + line)),
  ];
}

const acceptedWords = ({ reason, owner, expires }: AcceptedViolation): string =>
  `Accepted by ${owner}${expires === undefined ? '' : ` until ${expires}`}: ${reason}`;

function droppedLines({ dropped }: Report, width: number): string[] {
  return dropped === 0
    ? []
    : wrapText(`The ledger dropped ${countWords(dropped, 'piece')}: this report is not complete.`, width);
}

function candidateLines({ candidates }: Report, width: number, paint: Paint): string[] {
  if (candidates.length === 0) return [];
  return [
    '',
    paint('bold', `What the candidate contract would change (${candidates.length})`),
    ...candidates.flatMap(({ entry, share }) =>
      wrapText(
        plainText(
          `${entry.candidate ?? ''}: ${operationName(entry.operation)}, ${placeWords(entry)}: ${entry.message} (${entry.count}, ${shareWords(share)})`,
        ),
        width - 4,
      ).map((line, at) => `${at === 0 ? '  ' : '    '}${line}`),
    ),
  ];
}

function baselineLines(title: string, entries: readonly AcceptedViolation[], width: number, paint: Paint): string[] {
  if (entries.length === 0) return [];
  return [
    '',
    paint('bold', `${title} (${entries.length})`),
    ...entries.flatMap((one) =>
      wrapText(
        plainText(`${one.fingerprint}  ${one.summary ?? one.reason}, ${one.owner}, ${one.expires ?? 'no end'}`),
        width - 4,
      ).map((line, at) => `${at === 0 ? '  ' : '    '}${line}`),
    ),
  ];
}

function hintLines(report: Report, width: number): string[] {
  const first = findingsOf(report).find(isNew);
  if (first === undefined) return [];
  return [
    '',
    ...wrapText(`Details: portico report ${plainText(first.entry.fingerprint)}`, width),
    'Accept: below "accepted:" in the baseline',
    ...acceptLines(first),
  ];
}

/** What accepts a violation, to be copied below `accepted:` of a baseline: lines of YAML that are never broken. */
export function acceptLines({ entry }: Finding): readonly string[] {
  return [
    `  - fingerprint: ${plainText(entry.fingerprint)}`,
    '    reason: why it is right',
    '    owner: who answers for it',
  ];
}

/** The line that lets people read in a baseline what an entry is about. */
export function summaryLine({ entry }: Finding): string {
  const text = `${operationName(entry.operation)}, ${placeWords(entry)}: ${entry.message}`;
  // A text of JSON is one of YAML, whatever is in it.
  return `    summary: ${JSON.stringify(plainText(text))}`;
}

const MOST = 10;

/** A report in a few lines, for the end of something longer. */
export function shortLines(report: Report): readonly string[] {
  const findings = findingsOf(report);
  const lines = findings
    .slice(0, MOST)
    .map(({ entry, standing, share }) =>
      plainText(
        `  ${standing} ${entry.category}: ${operationName(entry.operation)}, ${placeWords(entry)}: ${entry.message} (${entry.count}, ${shareWords(share)}) ${entry.fingerprint}`,
      ),
    );
  const rest = findings.length - lines.length;
  return [
    plainText(summaryWords(report)),
    ...lines,
    ...(rest > 0 ? [`  and ${countWords(rest, 'more', 'more')}`] : []),
  ];
}

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
import { plainText, createPaint, type Paint, wrapText } from '../../lib/plain-text.ts';
import { CATEGORY_WORDS, operationName, placeWords, REPLICA_COLUMNS, replicaCells, timeWords } from './report-words.ts';
import { LEAK } from '../../comparison/difference-violation.ts';
import { shareWords } from '../../lib/share-words.ts';
import {
  detailsCommand,
  type Finding,
  findingsOf,
  type IncidentSection,
  incidentSections,
  incompleteWords,
  isNew,
  type RenderOptions,
  type RenderReport,
  type Report,
  summaryWords,
} from './report.ts';

const MIN_COLUMNS = 80;
const MAX_COLUMNS = 120;
const INDENT = '            ';

/**
 * Renders a report for a terminal of 80 to 120 columns. There is one table per category, with the worst violation
 * first.
 */
export const renderTable: RenderReport = (report, options) => {
  const { columns, colors } = options;
  const width = Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, columns));
  const paint = createPaint(colors);
  const sections = report.sections.flatMap((section) => sectionLines(section, width, paint));
  if (report.isSectionsOnly === true) return sections.slice(1).join('\n');
  return [
    ...wrapText(plainText(summaryWords(report)), width).map((line) => paint('bold', line)),
    ...incompleteWords(report).flatMap((words) => wrapText(words, width)),
    ...report.groups.flatMap(({ category, findings }) => [
      '',
      paint('bold', `${CATEGORY_WORDS[category]} (${category}, ${findings.length})`),
      paint('dim', headLine(width)),
      ...groupByCause(findings, self).flatMap((cause) => findingLines(cause, width, paint)),
    ]),
    ...incidentSections(report).flatMap((section) => incidentLines(section, width, paint)),
    ...shadowLines(report, width, paint),
    ...baselineLines('Expired acceptances', report.expired, width, paint),
    ...baselineLines('Accepted but no longer found', report.noLongerSeen, width, paint),
    ...replicaLines(report, width, paint),
    ...sections,
    ...hintLines(report, width, options),
  ].join('\n');
};

/** Renders a comparison as a table for a terminal. */
export function renderComparedTable(comparison: Comparison, { columns, colors }: RenderOptions): string {
  const width = Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, columns));
  const paint = createPaint(colors);
  const groups = groupedByChange(comparison).flatMap(({ change, findings }) => {
    const head = ['', paint('bold', `${CHANGE_WORDS[change]} (${findings.length})`)];
    return head.concat(groupByCause(findings, comparedOf).flatMap((cause) => comparedLines(cause, width)));
  });
  const title = wrapText(plainText(comparisonWords(comparison)), width).map((line) => paint('bold', line));
  return title.concat(groups.length === 0 ? NO_DIFFERENCE : groups).join('\n');
}

const comparedOf = ({ finding }: ComparedFinding): Finding => finding;

function comparedLines(cause: Cause<ComparedFinding>, width: number): string[] {
  const one = cause.first;
  const { entry } = one.finding;
  const others = otherPlaces(cause, comparedOf);
  const place = `${operationName(entry.operation)}, ${placeWords(entry)}: ${entry.message}${others === undefined ? '' : `. ${others}`}`;
  const text = plainText(`${entry.fingerprint}  ${changedShares(one)}  ${entry.category}  ${place}`);
  return wrapText(text, width - 4).map((line, at) => `${at === 0 ? '  ' : '    '}${line}`);
}

const row = (cells: readonly [string, string, string, string, string, string], width: number): string => {
  const [state, operation, count, share, seen, fingerprint] = cells;
  const nameWidth = width - 60;
  const name = operation.length > nameWidth ? `${operation.slice(0, nameWidth - 1)}…` : operation.padEnd(nameWidth);
  return `  ${state.padEnd(8)}  ${name} ${count.padStart(8)} ${share.padStart(8)}  ${seen.padEnd(10)}  ${fingerprint}`;
};

const headLine = (width: number): string =>
  row(['state', 'operation', 'count', 'share', 'last seen', 'fingerprint'], width);

const self = (finding: Finding): Finding => finding;

function findingLines(cause: Cause<Finding>, width: number, paint: Paint): string[] {
  const { entry, baselineState, share, accepted } = cause.first;
  const others = otherPlaces(cause, self);
  const cells = row(
    [
      baselineState,
      plainText(operationName(entry.operation)),
      String(cause.count),
      shareWords(share),
      timeWords(entry.lastSeenAt).slice(0, 10),
      plainText(entry.fingerprint),
    ],
    width,
  );
  const color = baselineState === 'new' ? 'red' : baselineState === 'expired' ? 'yellow' : 'green';
  const notes = [
    `${placeWords(entry)}: ${entry.message}`,
    ...(others === undefined ? [] : [others]),
    ...(entry.suggestion === undefined ? [] : [`Suggestion: ${entry.suggestion}`]),
    ...(accepted === undefined ? [] : [acceptedWords(accepted)]),
  ];
  return [
    paint(color, cells),
    ...notes.flatMap((note) => wrapText(plainText(note), width - INDENT.length).map((line) => INDENT + line)),
  ];
}

/** Renders a section about incidents in the same way as a category of violations. */
function incidentLines({ title, findings }: IncidentSection, width: number, paint: Paint): string[] {
  const head = ['', paint('bold', `${title} (${findings.length})`), paint('dim', headLine(width))];
  return head.concat(groupByCause(findings, self).flatMap((cause) => findingLines(cause, width, paint)));
}

const acceptedWords = ({ reason, owner, expires }: AcceptedViolation): string =>
  `Accepted by ${owner}${expires === undefined ? '' : ` until ${expires}`}: ${reason}`;

/** Lists the gateways that share the ledger and their counts for the last 48 hours. */
function replicaLines({ replicas = [] }: Report, width: number, paint: Paint): string[] {
  if (replicas.length === 0) return [];
  const widths = [width - 58, 14, 16, 8, 10];
  const lineOf = (cells: readonly string[]) => {
    const fitted = cells.map((cell, at) => {
      const [text, size] = [plainText(cell), widths[at] ?? 0];
      const short = text.length > size ? `${text.slice(0, size - 1)}…` : text;
      return at < 3 ? short.padEnd(size) : short.padStart(size);
    });
    return `  ${fitted.join('  ')}`;
  };
  return [
    '',
    paint('bold', `Gateways (${replicas.length})`),
    paint('dim', lineOf(REPLICA_COLUMNS.map((name) => name.toLowerCase()))),
    ...replicas.map((one) => lineOf(replicaCells(one))),
  ];
}

/** Renders a section. Its tables are as wide as their contents, because a cut cell would say nothing. */
function sectionLines({ title, text, tables }: ReportSection, width: number, paint: Paint): string[] {
  const lines = ['', paint('bold', plainText(title)), ...text.flatMap((words) => wrapText(plainText(words), width))];
  for (const { title: name, columns, rows, empty } of tables) {
    lines.push('', paint('bold', `${name} (${rows.length})`));
    if (rows.length === 0) {
      lines.push(`  ${empty}`);
      continue;
    }
    const cells = [columns.map((column) => column.title.toLowerCase()), ...rows.map((own) => own.map(plainText))];
    const widths = columns.map((_, at) => Math.max(...cells.map((own) => own[at]?.length ?? 0)));
    const lineOf = (own: readonly string[]) =>
      columns
        .map(({ isNumber }, at) => own[at]?.[isNumber === true ? 'padStart' : 'padEnd'](widths[at] ?? 0) ?? '')
        .join('  ')
        .trimEnd();
    lines.push(...cells.map((own, at) => (at === 0 ? paint('dim', `  ${lineOf(own)}`) : `  ${lineOf(own)}`)));
  }
  return lines;
}

function shadowLines({ shadowDifferences }: Report, width: number, paint: Paint): string[] {
  if (shadowDifferences.length === 0) return [];
  return [
    '',
    paint('bold', `Differences under the shadow contract (${shadowDifferences.length})`),
    ...shadowDifferences.flatMap(({ entry, share }) =>
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
        plainText(`${one.fingerprint}  ${one.summary ?? one.reason}, ${one.owner}, ${one.expires ?? 'no expiry'}`),
        width - 4,
      ).map((line, at) => `${at === 0 ? '  ' : '    '}${line}`),
    ),
  ];
}

function hintLines(report: Report, width: number, options: RenderOptions): string[] {
  const first = findingsOf(report).find(isNew);
  if (first === undefined) return [];
  const command = detailsCommand(first.entry.fingerprint, options);
  const details = command === undefined ? [] : wrapText(`Details: ${plainText(command)}`, width);
  if (first.entry.keyword === LEAK) return ['', ...details, 'A leak cannot be accepted.'];
  return ['', ...details, 'To accept it, add below "accepted:" in the baseline:', ...acceptLines(first)];
}

/**
 * Returns the YAML lines that accept a violation. They are never wrapped, because they are meant to be copied to
 * `accepted:` in a baseline.
 */
export function acceptLines({ entry }: Finding): readonly string[] {
  return [
    `  - fingerprint: ${plainText(entry.fingerprint)}`,
    '    reason: why it is accepted',
    '    owner: who is responsible',
  ];
}

/** Returns the YAML line that describes the violation in the baseline. */
export function summaryLine({ entry }: Finding): string {
  const text = `${operationName(entry.operation)}, ${placeWords(entry)}: ${entry.message}`;
  // Every JSON string is valid YAML.
  return `    summary: ${JSON.stringify(plainText(text))}`;
}

const MAX_SHORT_LINES = 10;

function shortIncidents(title: string, findings: readonly Finding[]): readonly string[] {
  const lines = findings
    .slice(0, MAX_SHORT_LINES)
    .map(({ entry }) => plainText(`  ${operationName(entry.operation)}: ${entry.message} (${entry.count})`));
  const rest = findings.length - lines.length;
  return [`${title}:`, ...lines, ...(rest > 0 ? [`  and ${rest} more`] : [])];
}

/** Summarizes a report in a few lines. */
export function shortLines(report: Report): readonly string[] {
  const findings = findingsOf(report);
  const lines = findings
    .slice(0, MAX_SHORT_LINES)
    .map(({ entry, baselineState, share }) =>
      plainText(
        `  ${baselineState} ${entry.category}: ${operationName(entry.operation)}, ${placeWords(entry)}: ${entry.message} (${entry.count}, ${shareWords(share)}) ${entry.fingerprint}`,
      ),
    );
  const rest = findings.length - lines.length;
  return [
    plainText(summaryWords(report)),
    ...lines,
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    ...incidentSections(report).flatMap(({ title, findings: incidents }) => shortIncidents(title, incidents)),
  ];
}

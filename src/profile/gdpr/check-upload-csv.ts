import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { CsvError, parse } from 'csv-parse/sync';
import type { ErrorDetail } from '../../engine/errors/gateway-error.ts';
import type { Violation } from '../../engine/model/violation.ts';

interface CsvLimits {
  readonly maxRows: number;
  /** The approximate maximum size of a row, in bytes. Defaults to 10,000. */
  readonly maxRowBytes?: number;
  /** The maximum number of reported errors. Defaults to 20. */
  readonly maxErrors?: number;
}

/** The result of checking an upload. Violations and details with the same index describe the same error. */
interface CsvCheck {
  readonly violations: readonly Violation[];
  /** The details of the errors. They contain row numbers (row 1 is the header) but never a cell's contents. */
  readonly details: readonly ErrorDetail[];
  /** The number of rows read, excluding the header. */
  readonly rows: number;
  /**
   * A hash of the users in the file. It is the same for all ways to write the same rows: with any line breaks, quotes and
   * order of columns, and with or without a byte order mark. Undefined if the file cannot be read completely.
   */
  readonly identity: string | undefined;
}

/** Checks a GDPR upload's CSV text (docs/rules.md §9). A line break inside quotes does not end a row. */
export function checkUploadCsv(content: string, limits: CsvLimits): CsvCheck {
  const check = createCheck(content, limits);
  while (check.nextPart());
  return check.result();
}

/** Like {@link checkUploadCsv}, but checks a long file in parts so that other requests can be served in between. */
export async function checkLongUploadCsv(content: string, limits: CsvLimits): Promise<CsvCheck> {
  const check = createCheck(content, limits);
  while (check.nextPart()) await turn();
  return check.result();
}

/** The approximate length of one part. Checking a part takes a few milliseconds. */
export const CSV_PART_LENGTH = 65_536;

/** The maximum number of cells in a row. A valid row has at most two. */
const MAX_CELLS = 16;

/** A check that processes a file in parts, each consisting of whole rows. */
interface PartialCheck {
  /** Checks the next part. Returns false if there are no parts left. */
  nextPart(): boolean;
  result(): CsvCheck;
}

function createCheck(untrimmed: string, limits: CsvLimits): PartialCheck {
  const { maxRows, maxRowBytes = 10_000, maxErrors = 20 } = limits;
  const content = withoutBlankEnd(untrimmed);
  const found = createErrorList(maxErrors);
  let from = 0;
  let columns = 0;
  let row = 0;
  /** The number of non-empty rows below the header. */
  let filled = 0;
  let isMalformed = false;
  /** The position of each column in the alphabetical order of the header. */
  let order: readonly number[] = [];
  let idAt = -1;
  const identity = createHash('sha256');

  const checkHeader = (cells: readonly string[]) => {
    const error = headerError(cells, content);
    if (error) found.add('enum', 1, error.message, error.suggestion);
  };
  const onRecord = (cells: string[]) => {
    row += 1;
    if (row === 1) {
      columns = cells.length;
      idAt = isForm(cells) ? cells.indexOf('userId') : -1;
      order = cells.map((_, at) => at).sort((one, other) => compare(cells[one] ?? '', cells[other] ?? ''));
      identity.update(canonicalRow(cells, order));
      checkHeader(cells);
      return null;
    }
    identity.update(canonicalRow(cells, order));
    const isEmpty = cells.every((cell) => cell.trim() === '');
    if (!isEmpty) filled += 1;
    if (row > maxRows + 1) {
      found.add('bounds', undefined, `the upload has more than ${maxRows} rows below its header`);
    } else if (isEmpty) {
      found.add('missing', row, 'all cells of the row are empty');
    } else if (cells.length !== columns) {
      found.add('format', row, `the row has ${cells.length < columns ? 'fewer' : 'more'} cells than the header`);
    } else if (idAt >= 0 && !isId(cells[idAt] ?? '')) {
      found.add('format', row, 'the userId is not an integer, so the server would ignore the row');
    }
    return null;
  };
  const parsePart = (part: string) => {
    try {
      parse(part, {
        bom: from === 0,
        // Both line endings are listed, because csv-parse would otherwise accept only the kind that it finds first.
        record_delimiter: ['\r\n', '\n'],
        relax_column_count: true,
        max_record_size: maxRowBytes,
        to: maxRows + 2 - row,
        on_record: onRecord,
      });
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      isMalformed = true;
      const header = row === 0 ? firstLineError(content) : undefined;
      if (header !== undefined) return found.add('enum', 1, header.message, header.suggestion);
      // The message from csv-parse is not used, because it quotes the cell.
      found.add('format', row + 1, MESSAGES[error.code] ?? 'the row is not well-formed CSV');
    }
  };

  return {
    nextPart() {
      const { end, excess } = partAt(content, from, maxRowBytes);
      if (end > from) parsePart(content.slice(from, end));
      from = end;
      if (isMalformed || row >= maxRows + 2) return false;
      if (excess === undefined) return from < content.length;
      isMalformed = true;
      if (excess === 'length') found.add('format', row + 1, 'the row is too long');
      else if (row === 0) checkHeader([]);
      else found.add('format', row + 1, 'the row has more cells than the header');
      return false;
    },
    result() {
      if (!isMalformed && row === 0)
        found.add('missing', undefined, 'the upload is empty: a header and at least one row are needed');
      else if (!isMalformed && row === 1) found.add('missing', undefined, 'the upload has no row below its header');
      return {
        ...found.result(filled === 0),
        rows: Math.max(0, Math.min(row, maxRows + 1) - 1),
        identity: isMalformed || row > maxRows + 1 ? undefined : identity.digest('base64url'),
      };
    },
  };
}

/**
 * A part of a file that consists of whole rows and ends at `end`. If the next row must not be parsed, `excess` states
 * which limit it exceeds.
 */
interface Part {
  readonly end: number;
  readonly excess?: 'length' | 'cells';
}

const [QUOTE, COMMA, NEW_LINE] = [0x22, 0x2c, 0x0a] as const;

/**
 * Returns the part that begins at an index. Rows with too many cells are detected here, because csv-parse would read
 * all cells of such a row, even millions, before it could be refused. If quotes are misplaced, the part ends after the
 * first row that contains a misplaced quote, and csv-parse refuses that row.
 */
function partAt(content: string, from: number, maxRowBytes: number): Part {
  // In a quoted cell, each quote is written twice.
  const maxLength = 2 * maxRowBytes + 3 * MAX_CELLS;
  let rowFrom = from;
  let cells = 1;
  let isQuoted = false;
  for (let at = from; at < content.length; at += 1) {
    const code = content.charCodeAt(at);
    if (code === QUOTE) isQuoted = !isQuoted;
    else if (code === COMMA && !isQuoted) {
      cells += 1;
      if (cells > MAX_CELLS) return { end: rowFrom, excess: 'cells' };
    } else if (code === NEW_LINE && !isQuoted) {
      rowFrom = at + 1;
      cells = 1;
      if (rowFrom - from >= CSV_PART_LENGTH) return { end: rowFrom };
    }
    if (at - rowFrom > maxLength) return { end: rowFrom, excess: 'length' };
  }
  return { end: content.length };
}

/** Returns the text without trailing blank lines, which do not count as rows. */
function withoutBlankEnd(content: string): string {
  let end = content.length;
  while (end > 0 && (content[end - 1] === '\n' || content[end - 1] === '\r')) end -= 1;
  if (end === 0) return '';
  const lineEnd = content.indexOf('\n', end);
  return lineEnd === -1 ? content : content.slice(0, lineEnd + 1);
}

const MESSAGES: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted cell of the row is not closed',
  INVALID_OPENING_QUOTE: 'an unquoted cell of the row contains a quote',
  CSV_INVALID_CLOSING_QUOTE: 'text follows the closing quote of a cell of the row',
  CSV_MAX_RECORD_SIZE: 'the row is too long',
};

/** The keyword for each kind of error. Errors with different keywords are separate entries in the ledger. */
const KEYWORDS = {
  enum: 'gdpr-csv-header',
  missing: 'gdpr-csv-empty',
  format: 'gdpr-csv-row',
  bounds: 'gdpr-csv-rows',
} as const;

/** The keyword for all errors in an upload that contains no users. */
const NO_USER = 'gdpr-csv-no-user';

function createErrorList(maxErrors: number) {
  const violations: Violation[] = [];
  const details: ErrorDetail[] = [];
  return {
    /**
     * Returns all errors. If the upload contains no users and every error is in the `missing` category, all errors get
     * the keyword for an upload without users.
     */
    result(hasNoUser: boolean): Pick<CsvCheck, 'violations' | 'details'> {
      if (!hasNoUser || violations.some(({ category }) => category !== 'missing')) return { violations, details };
      return { violations: violations.map((violation) => ({ ...violation, keyword: NO_USER })), details };
    },
    add(category: keyof typeof KEYWORDS, row: number | undefined, message: string, suggestion?: string) {
      if (violations.length >= maxErrors) return;
      const meant = suggestion === undefined ? {} : { suggestion };
      violations.push({
        check: 'requests',
        direction: 'request',
        category,
        location: 'body',
        at: '/content',
        keyword: KEYWORDS[category],
        schemaPath: '',
        message,
        ...meant,
      });
      details.push({ in: 'body', name: '/content', message, ...(row === undefined ? {} : { row }), ...meant });
    },
  };
}

/** The columns that an upload can contain. */
const UPLOAD_COLUMNS = ['email', 'userId', 'username'] as const;

const FORMS: readonly (readonly string[])[] = [
  ['email'],
  ['userId'],
  ['username'],
  ['userId', 'username'],
  ['username', 'userId'],
];

/**
 * Returns the error in a header row, or undefined if the row is valid. A valid header row contains exactly one of the
 * columns, or `userId` and `username` in either order.
 */
function headerError(
  header: readonly string[],
  content: string,
): { readonly message: string; readonly suggestion?: string } | undefined {
  if (isForm(header)) return undefined;
  const firstLine = firstLineError(content);
  if (firstLine !== undefined) return firstLine;
  const message = 'the header must be email, userId, username, or userId and username together';
  const meant = formOf(header);
  // The suggestion never repeats the input. If the header row is missing, the first row contains a user's data.
  return meant === undefined ? { message } : { message, suggestion: meant.join(',') };
}

/** The separators that spreadsheet programs write instead of commas, with their names. */
const SEPARATORS: readonly (readonly [separator: string, name: string])[] = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
  ['|', 'vertical bars'],
];

/**
 * Returns the error if the first line is a header with another separator, or a line that some programs write above the
 * header. Only the beginning of the file is read.
 */
function firstLineError(content: string): { readonly message: string; readonly suggestion?: string } | undefined {
  const [first = '', second = ''] = content
    .slice(0, 1000)
    .replace(/^\uFEFF/, '')
    .split('\n', 2)
    .map(unquoted);
  if (/^sep ?=/i.test(first))
    return { message: 'the first line names a separator (sep=); remove the line, and separate the cells with commas' };
  for (const [separator, name] of SEPARATORS)
    if (first.includes(separator) && formOf(first.split(separator)) !== undefined)
      return { message: `the cells are separated by ${name}; separate them with commas` };
  const isAbove = /^#|^\W{0,9}version\b/i.test(first);
  const hasHeaderBelow = [',', ...SEPARATORS.map(([one]) => one)].some(
    (one) => formOf(second.split(one)) !== undefined,
  );
  if (!isAbove && !hasHeaderBelow) return undefined;
  const what = isAbove ? 'a version or comment line' : 'not the header, which is in the second line';
  return { message: `the first line is ${what}; remove the line` };
}

const unquoted = (line: string) => line.replaceAll('"', '').trim();

/** Returns the allowed columns that cells stand for, whatever their case, or undefined if they are no header. */
function formOf(cells: readonly string[]): readonly string[] | undefined {
  const meant = cells.map(columnMeantBy);
  return isForm(meant) ? meant.filter((column) => column !== undefined) : undefined;
}

const columnMeantBy = (cell: string) =>
  UPLOAD_COLUMNS.find((column) => column.toLowerCase() === cell.trim().toLowerCase());

/** Returns a row as one line of text, with its cells in the alphabetical order of the columns. */
function canonicalRow(cells: readonly string[], order: readonly number[]): string {
  const sorted = cells.length === order.length ? order.map((at) => cells[at]) : cells;
  return `${JSON.stringify(sorted)}\n`;
}

const compare = (one: string, other: string) => (one < other ? -1 : 1);

const MAX_ID = 2n ** 63n - 1n;

/** Returns whether a cell is empty or a non-negative integer of 64 bits. */
function isId(cell: string): boolean {
  const id = cell.trim();
  return id === '' || (/^\d{1,19}$/.test(id) && BigInt(id) <= MAX_ID);
}

function isForm(columns: readonly (string | undefined)[]): boolean {
  return FORMS.some((form) => form.length === columns.length && form.every((column, at) => column === columns[at]));
}

import { CsvError, parse } from 'csv-parse/sync';
import type { ErrorDetail } from '../errors/gateway-error.ts';
import type { Violation } from '../model/violation.ts';

/** Bounds of one upload. */
export interface CsvLimits {
  readonly maxRows: number;
  /** About the most bytes of one row; 10,000 unless told. */
  readonly maxRowBytes?: number;
  /** The most faults that are told; 20 unless told. */
  readonly maxFaults?: number;
}

/** What was found in an upload: violation and detail of the same index are the same fault. */
export interface CsvCheck {
  readonly violations: readonly Violation[];
  /** With row numbers, the header being row 1; never with what a cell holds. */
  readonly details: readonly ErrorDetail[];
  /** Rows below the header that were read. */
  readonly rows: number;
}

/**
 * Checks the CSV of a GDPR upload (rules, 9); rows are counted as records, so a quoted line break does not start one.
 */
export function checkUploadCsv(content: string, limits: CsvLimits): CsvCheck {
  const { maxRows, maxRowBytes = 10_000, maxFaults = 20 } = limits;
  const found = createFaults(maxFaults);
  let columns = 0;
  let row = 0;

  const onRecord = (cells: string[]) => {
    row += 1;
    if (row === 1) {
      columns = cells.length;
      const fault = headerFault(cells);
      if (fault) found.add('enum', row, fault.message, fault.suggestion);
    } else if (row > maxRows + 1) {
      found.add('bounds', undefined, `the upload has more than ${maxRows} rows below its header`);
    } else if (cells.every((cell) => cell.trim() === '')) {
      found.add('missing', row, 'no cell of the row is filled');
    } else if (cells.length !== columns) {
      found.add('format', row, `the row has ${cells.length < columns ? 'fewer' : 'more'} cells than the header`);
    }
    return null;
  };

  try {
    parse(content, {
      bom: true,
      // Named, because csv-parse would otherwise take the first CR, LF or CRLF that it meets for all of them.
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      max_record_size: maxRowBytes,
      to: maxRows + 2,
      on_record: onRecord,
    });
    if (row === 0) found.add('missing', undefined, 'the upload is empty: a header and at least one row are needed');
    else if (row === 1) found.add('missing', undefined, 'the upload has no row below its header');
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The parser's own message quotes the cell.
    found.add('format', row + 1, MESSAGES[error.code] ?? 'the row is not well-formed CSV');
  }
  return { violations: found.violations, details: found.details, rows: Math.max(0, Math.min(row, maxRows + 1) - 1) };
}

const MESSAGES: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted cell of the row is not closed',
  INVALID_OPENING_QUOTE: 'a quote stands inside a cell of the row that is not quoted',
  CSV_INVALID_CLOSING_QUOTE: 'something follows the closing quote of a cell of the row',
  CSV_MAX_RECORD_SIZE: 'the row is too long',
};

/** Different mistakes are different entries of a ledger. */
const KEYWORDS = {
  enum: 'gdpr-csv-header',
  missing: 'gdpr-csv-empty',
  format: 'gdpr-csv-row',
  bounds: 'gdpr-csv-rows',
} as const;

function createFaults(maxFaults: number) {
  const violations: Violation[] = [];
  const details: ErrorDetail[] = [];
  return {
    violations,
    details,
    add(category: keyof typeof KEYWORDS, row: number | undefined, message: string, suggestion?: string) {
      if (violations.length >= maxFaults) return;
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

/** The columns that an upload may have. */
const UPLOAD_COLUMNS = ['email', 'userId', 'username'] as const;

const FORMS: readonly (readonly string[])[] = [
  ['email'],
  ['userId'],
  ['username'],
  ['userId', 'username'],
  ['username', 'userId'],
];

/** What is wrong with a header row; undefined for one column alone or `userId` and `username` in either order. */
export function headerFault(
  header: readonly string[],
): { readonly message: string; readonly suggestion?: string } | undefined {
  if (isForm(header)) return undefined;
  const message = 'the header must be email, userId, username, or userId and username together';
  const meant = header.map((cell) =>
    UPLOAD_COLUMNS.find((column) => column.toLowerCase() === cell.trim().toLowerCase()),
  );
  // Only names of our own are ever suggested: the header row may hold a user's data when it was forgotten.
  return isForm(meant) ? { message, suggestion: meant.join(',') } : { message };
}

function isForm(columns: readonly (string | undefined)[]): boolean {
  return FORMS.some((form) => form.length === columns.length && form.every((column, at) => column === columns[at]));
}

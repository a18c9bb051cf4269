import { parse } from 'csv-parse/sync';

/** One user as a CSV row names it; an empty cell is absent. */
export type GdprCsvRow = Readonly<Partial<Record<'email' | 'userId' | 'username', string>>>;

/** The rows of a readable file, or what is wrong with it. */
export type GdprCsv = { readonly rows: readonly GdprCsvRow[] } | { readonly problem: string };

const HEADERS: ReadonlySet<string> = new Set(['email', 'userId', 'username', 'userId,username', 'username,userId']);

/** Reads the uploaded CSV text: a header of the allowed columns, then a row per user. */
export function parseGdprCsv(content: string): GdprCsv {
  let records: string[][];
  try {
    records = parse(content, { bom: true, trim: true, skip_empty_lines: true });
  } catch {
    return { problem: 'The provided file is not a valid CSV.' };
  }
  const [header = [], ...lines] = records;
  if (!HEADERS.has(header.join(','))) return { problem: 'The provided file does not have a valid header.' };
  const rows = lines.map((cells) => {
    const named = header.map((column, index): [string, string] => [column, cells[index] ?? '']);
    return Object.fromEntries(named.filter(([, cell]) => cell !== ''));
  });
  return { rows };
}

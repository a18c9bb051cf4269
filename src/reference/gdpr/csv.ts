import { parse } from 'csv-parse/sync';
import type { Sql } from '../store/sql.ts';

/** One row of the CSV, without its empty cells. */
type GdprCsvRow = Readonly<Partial<Record<'email' | 'userId' | 'username', string>>>;

/** The rows of a valid file, or the problem with it. */
type GdprCsv = { readonly rows: readonly GdprCsvRow[] } | { readonly problem: string };

const HEADERS: ReadonlySet<string> = new Set(['email', 'userId', 'username', 'userId,username', 'username,userId']);

/** Parses the uploaded CSV: a header with the allowed columns, then one row per user. */
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

/** Returns the distinct ids of the users in the rows. Skips unknown users and rows whose two cells name different users. */
export function findCsvUsers(sql: Sql, rows: readonly GdprCsvRow[]): number[] {
  const found = new Set<number>();
  for (const { email, userId, username } of rows) {
    if (email === undefined && userId === undefined && username === undefined) continue;
    const match = sql.get<{ id: number }>(
      `SELECT id FROM users WHERE (?1 IS NULL OR lower(email) = lower(?1)) AND (?2 IS NULL OR CAST(id AS TEXT) = ?2)
       AND (?3 IS NULL OR username = ?3)`,
      email ?? null,
      userId ?? null,
      username ?? null,
    );
    if (match !== undefined) found.add(match.id);
  }
  return [...found];
}

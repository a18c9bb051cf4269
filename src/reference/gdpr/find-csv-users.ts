import type { Sql } from '../store/sql.ts';
import type { GdprCsvRow } from './parse-gdpr-csv.ts';

/** The ids of the users that the rows name, each once; a row with two cells must mean one user, unknown users are skipped. */
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

import type { Sql } from '../store/sql.ts';
import type { UserRow } from '../store/rows.ts';

/** The author as nodes and topics show it. */
export interface AuthorSummary {
  readonly id: number;
  readonly username: string;
  readonly reputation: number;
}

/** Loads the author summary of a user. */
export function authorSummary(sql: Sql, userId: number): AuthorSummary {
  const user = sql.get<UserRow>('SELECT id, username, reputation FROM users WHERE id = ?', userId);
  return { id: userId, username: user?.username ?? '', reputation: user?.reputation ?? 0 };
}

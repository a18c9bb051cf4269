import type { DatabaseSync } from 'node:sqlite';

/** Runs the work in one transaction that is rolled back when it throws; `IMMEDIATE` where it writes. */
export function inTransaction<T>(
  database: DatabaseSync,
  work: () => T,
  kind: 'IMMEDIATE' | 'DEFERRED' = 'IMMEDIATE',
): T {
  database.exec(`BEGIN ${kind}`);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite has rolled some failures back by itself, a full disk for one.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

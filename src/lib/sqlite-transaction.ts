import type { DatabaseSync } from 'node:sqlite';

/** Runs the function in one transaction, which is rolled back if the function throws. To write, pass `IMMEDIATE`. */
export function inTransaction<T>(
  database: Pick<DatabaseSync, 'exec' | 'isTransaction'>,
  work: () => T,
  kind: 'IMMEDIATE' | 'DEFERRED' = 'IMMEDIATE',
): T {
  database.exec(`BEGIN ${kind}`);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // After some errors, such as a full disk, SQLite has already rolled back the transaction.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

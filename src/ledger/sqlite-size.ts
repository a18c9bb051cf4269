import type { DatabaseSync } from 'node:sqlite';

/** Holds the file to its size; one that was allowed to grow larger before is made smaller. */
export function boundFile(database: DatabaseSync, maxBytes: number, makeRoom: () => number): void {
  const maxPages = Math.floor(maxBytes / numberOf(database, 'page_size'));
  while (numberOf(database, 'page_count') - numberOf(database, 'freelist_count') > maxPages && makeRoom() > 0);
  if (numberOf(database, 'page_count') > maxPages) database.exec('PRAGMA incremental_vacuum');
  database.exec(`PRAGMA max_page_count = ${maxPages}`);
}

/** Gives the disk back what was forgotten, in the file and in the log of SQLite beside it, where nobody reads just then. */
export function giveBack(database: DatabaseSync): void {
  if (numberOf(database, 'freelist_count') === 0) return;
  const patience = numberOf(database, 'busy_timeout');
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);');
  } catch {
    // Another writer was there, or the disk is full: an hour later there is the next time.
  } finally {
    database.exec(`PRAGMA busy_timeout = ${patience}`);
  }
}

/** Puts the log of SQLite into the file, even where that has another name by now: SQLite itself leaves it where it was. */
export function gather(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // A full disk: the file stays as it was last put together.
  }
}

const numberOf = (database: DatabaseSync, pragma: string) =>
  Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);

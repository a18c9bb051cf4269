import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { OpenedStore } from '../ledger-store.ts';
import { beginFile } from './begin-file.ts';
import { ANOTHER_FILE, LedgerFileError, SQLITE, sqliteCodeOf, tellFault } from './ledger-file-error.ts';

/** Milliseconds that a writer waits for another one: a second gateway may be writing to the same file. */
const BUSY_MS = 5_000;

/** More pages than any batch changes: nothing of one goes to the disk before all of it does, which tells what found it full. */
const BATCH_PAGES = 4_000;

/**
 * Opens a ledger's file for writing, making folder, file and tables where there are none; throws LedgerFileError. New
 * tables count callers under `callerKey`, one of their own unless given.
 */
export function openLedgerDatabase(path: string, callerKey?: string): DatabaseSync {
  return tellFault(path, () => {
    beginFile(path);
    const database = new DatabaseSync(path, { timeout: BUSY_MS });
    try {
      if (isEmpty(database)) fill(database, path, callerKey);
      assertOurs(database, path);
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304;');
      database.exec(`PRAGMA secure_delete = ON; PRAGMA cache_spill = ${BATCH_PAGES};`);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/** Opens a ledger's file for reading only, beside a gateway that writes it or without one; throws LedgerFileError. */
export function readLedgerDatabase(path: string): DatabaseSync {
  const missing = () =>
    new LedgerFileError('missing', `${path} holds no ledger`, 'run portico serve first, or name another file');
  if (!existsSync(path) || statSync(path).size === 0) throw missing();
  const read = (file: string | URL) => {
    const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS });
    try {
      // So it is for a moment while its tables are made.
      if (isEmpty(database)) throw missing();
      assertOurs(database, path);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  };
  return tellFault(path, () => {
    try {
      return read(path);
    } catch (error) {
      // SQLite wants to put its index beside the file, which a folder that takes no files refuses; then nobody writes there.
      const code = sqliteCodeOf(error);
      if ((code !== SQLITE.cannotOpen && code !== SQLITE.readOnly) || existsSync(`${path}-wal`)) throw error;
      return read(new URL('?immutable=1', pathToFileURL(path)));
    }
  });
}

/** Throws LedgerFileError when pages of the file are damaged. */
export function assertSound(database: DatabaseSync, path: string): void {
  tellFault(path, () => {
    const [first] = database.prepare('PRAGMA quick_check(1)').all();
    if (first?.['quick_check'] !== 'ok')
      throw new LedgerFileError('not ours', `${path} is damaged: ${String(first?.['quick_check'])}`, ANOTHER_FILE);
  });
}

function isEmpty(database: DatabaseSync): boolean {
  return (
    database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined && numberOf(database, 'user_version') === 0
  );
}

// Looked at again inside the transaction, as another process may be filling the same file.
function fill(database: DatabaseSync, path: string, callerKey = randomBytes(32).toString('hex')): void {
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  inTransaction(database, () => {
    if (!isEmpty(database)) return;
    database.exec(TABLES);
    const add = database.prepare('INSERT INTO meta (name, value) VALUES (?, ?)');
    add.run('callerKey', callerKey);
    add.run('dropped', 0);
  });
  assertOurs(database, path);
}

function assertOurs(database: DatabaseSync, path: string): void {
  if (numberOf(database, 'application_id') !== APPLICATION_ID)
    throw new LedgerFileError('not ours', `${path} holds something else than a ledger`, ANOTHER_FILE);
  const version = numberOf(database, 'user_version');
  if (version === TABLES_VERSION) return;
  throw new LedgerFileError(
    'not ours',
    `${path} was written by ${version > TABLES_VERSION ? 'a newer' : 'an older'} version of Portico (tables ${version}, known are ${TABLES_VERSION})`,
    version > TABLES_VERSION ? `use that version, or ${ANOTHER_FILE}` : ANOTHER_FILE,
  );
}

function numberOf(database: DatabaseSync, pragma: 'application_id' | 'user_version'): number {
  return Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
}

/** Marks a SQLite file as a ledger of Portico's (`PRAGMA application_id`): "PtLg". */
export const APPLICATION_ID = 0x50744c67;

/** The version of the tables (`PRAGMA user_version`), raised whenever they change. */
export const TABLES_VERSION = 1;

/** What is made in an empty file. */
export const TABLES = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE releases (
  id INTEGER PRIMARY KEY,
  label TEXT NOT NULL UNIQUE,
  last_seen_at INTEGER NOT NULL
) STRICT;
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  direction TEXT NOT NULL,
  operation TEXT,
  facts TEXT NOT NULL,
  first_seen_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  callers BLOB NOT NULL,
  samples TEXT NOT NULL
) STRICT;
CREATE INDEX entries_by_age ON entries (direction, last_seen_at);
CREATE TABLE entry_hours (
  entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
  release INTEGER NOT NULL REFERENCES releases ON DELETE CASCADE,
  hour INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (entry, release, hour)
) STRICT, WITHOUT ROWID;
CREATE TABLE traffic (
  operation TEXT NOT NULL,
  release INTEGER NOT NULL REFERENCES releases ON DELETE CASCADE,
  hour INTEGER NOT NULL,
  name TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (operation, release, hour, name)
) STRICT, WITHOUT ROWID;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${TABLES_VERSION};
`;

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

/** Looks through a ledger's file that holds something; throws LedgerFileError where that cannot be used. */
export function knownOfFile(path: string): Pick<OpenedStore, 'fingerprints' | 'callerKey'> {
  const database = openLedgerDatabase(path);
  try {
    assertSound(database, path);
    const fingerprints = database.prepare('SELECT fingerprint FROM entries').all();
    const key = database.prepare(`SELECT value FROM meta WHERE name = 'callerKey'`).get();
    return { fingerprints: fingerprints.map((row) => String(row['fingerprint'])), callerKey: String(key?.['value']) };
  } finally {
    database.close();
  }
}

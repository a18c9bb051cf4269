import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { LedgerStoreError, type OpenedStore } from '../../ledger-store.ts';
import {
  checksOf,
  operationOf,
  type EntryHistory,
  HISTORY_HOURS,
  type LedgerEntry,
  type LedgerSample,
  type LedgerQuery,
  type LedgerSnapshot,
  type OperationTraffic,
} from '../../../../engine/model/ledger-entry.ts';
import type { EntryFacts } from '../../ledger-batch.ts';
import { beginFile, USE_ANOTHER_FILE, SQLITE, sqliteCodeOf, convertFileErrors } from './ledger-file.ts';
import { inTransaction } from '../../../../lib/sqlite-transaction.ts';
import { IN_MEMORY } from '../../../../lib/replace-file.ts';
import { hourOf } from '../../../../lib/clock.ts';
import type { ReleaseStatistics } from '../../../../engine/model/release-statistics.ts';
import { estimateDistinct } from '../../../../lib/distinct-count.ts';

/** How long a writer waits for another writer, such as a second gateway with the same file, in milliseconds. */
const BUSY_MS = 5_000;

/**
 * The number of changed pages that SQLite can buffer in memory. No batch changes that many pages, so SQLite never
 * writes a batch to disk before committing it. A full disk can therefore be distinguished from a full ledger.
 */
const BATCH_PAGES = 4_000;

/**
 * Opens a ledger file, or a database in memory, for writing. Creates the folder, the file and the tables if necessary.
 * Throws `LedgerStoreError` if the file is unusable. `callerKey` is the key for hashing callers. It is stored in new tables and is random by
 * default.
 */
export function openLedgerDatabase(path: string, callerKey?: string): DatabaseSync {
  return convertFileErrors(path, () => {
    if (path !== IN_MEMORY) beginFile(path);
    const database = new DatabaseSync(path, { timeout: BUSY_MS });
    try {
      if (isEmpty(database)) createTables(database, path, callerKey);
      assertLedger(database, path);
      database.exec(STATISTICS);
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304;');
      database.exec(`PRAGMA secure_delete = ON; PRAGMA cache_spill = ${BATCH_PAGES};`);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/**
 * Opens a ledger file read-only, even while a gateway is writing to it. Throws `LedgerStoreError` if the file is
 * missing or unusable.
 */
export function readLedgerDatabase(path: string): DatabaseSync {
  const missing = () =>
    new LedgerStoreError('missing', `${path} contains no ledger`, 'run portico serve first, or choose another file');
  if (!existsSync(path) || statSync(path).size === 0) throw missing();
  const read = (file: string | URL) => {
    const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS });
    try {
      // A ledger file is created before its tables are, so the database may still be empty.
      if (isEmpty(database)) throw missing();
      assertLedger(database, path);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  };
  return convertFileErrors(path, () => {
    try {
      return read(path);
    } catch (error) {
      // SQLite cannot create its index file next to the ledger in a read-only folder. No process can write to a ledger
      // in such a folder, so the ledger can be opened as immutable.
      const code = sqliteCodeOf(error);
      if ((code !== SQLITE.cannotOpen && code !== SQLITE.readOnly) || existsSync(`${path}-wal`)) throw error;
      return read(new URL('?immutable=1', pathToFileURL(path)));
    }
  });
}

/** Throws `LedgerStoreError` if any pages in the file are damaged. */
export function assertSound(database: DatabaseSync, path: string): void {
  convertFileErrors(path, () => {
    const [first] = database.prepare('PRAGMA quick_check(1)').all();
    if (first?.['quick_check'] !== 'ok') throw new LedgerStoreError('not ours', `${path} is damaged`, USE_ANOTHER_FILE);
  });
}

function isEmpty(database: DatabaseSync): boolean {
  return (
    database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined && numberOf(database, 'user_version') === 0
  );
}

// The transaction checks again whether the tables exist, because another process may be creating them.
function createTables(database: DatabaseSync, path: string, callerKey = randomBytes(32).toString('hex')): void {
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  inTransaction(database, () => {
    if (!isEmpty(database)) return;
    database.exec(TABLES);
    const add = database.prepare('INSERT INTO meta (name, value) VALUES (?, ?)');
    add.run('callerKey', callerKey);
    add.run('dropped', 0);
  });
  assertLedger(database, path);
}

function assertLedger(database: DatabaseSync, path: string): void {
  if (numberOf(database, 'application_id') !== APPLICATION_ID)
    throw new LedgerStoreError('not ours', `${path} is not a ledger`, USE_ANOTHER_FILE);
  const version = numberOf(database, 'user_version');
  if (version === TABLES_VERSION) return;
  throw new LedgerStoreError(
    'not ours',
    `${path} was written by ${version > TABLES_VERSION ? 'a newer' : 'an older'} version of Portico (tables version ${version}, expected ${TABLES_VERSION})`,
    version > TABLES_VERSION ? `use that version, or ${USE_ANOTHER_FILE}` : USE_ANOTHER_FILE,
  );
}

function numberOf(database: DatabaseSync, pragma: 'application_id' | 'user_version'): number {
  return Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
}

/** Identifies an SQLite file as a Portico ledger (`PRAGMA application_id`): "PtLg". */
const APPLICATION_ID = 0x50744c67;

/** The version of the tables (`PRAGMA user_version`). Increase it whenever the tables change. */
const TABLES_VERSION = 1;

/** The statements that create the tables in an empty file. */
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

/** Creates the table of statistics, which a ledger of an earlier release of Portico lacks. Earlier ones ignore it. */
const STATISTICS = `
CREATE TABLE IF NOT EXISTS statistics (
  release INTEGER NOT NULL REFERENCES releases ON DELETE CASCADE,
  operation TEXT NOT NULL,
  name TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (release, operation, name)
) STRICT, WITHOUT ROWID;
`;

/**
 * Checks a ledger file and reads its fingerprints and caller key. Throws `LedgerStoreError` if the file cannot be used.
 */
export function readStoredKeys(path: string): Pick<OpenedStore, 'fingerprints' | 'callerKey'> {
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

/**
 * Reads the data that matches a query from a ledger file. All data is read in one transaction and is therefore
 * consistent.
 */
export function readSnapshot(database: DatabaseSync, query: LedgerQuery, takenAt: number): LedgerSnapshot {
  const { since } = query;
  const period = { since: since === undefined ? 0 : hourOf(since), release: query.release };
  const historyOf = () => (query.history === true ? readHistory(database, hourOf(takenAt)) : undefined);
  const wanted = (id: string | undefined) => query.operation === undefined || id === operationOf(query.operation);
  return inTransaction(
    database,
    () => ({
      takenAt,
      since,
      releases: readReleases(database, period),
      entries: readEntries(database, period, historyOf()).filter(({ operation }) => wanted(operation)),
      traffic: readTraffic(database, period).filter(({ operation }) => wanted(operation)),
      statistics: readStatistics(database).filter(({ operation }) => wanted(operation)),
      dropped: Number(database.prepare(`SELECT value FROM meta WHERE name = 'dropped'`).get()?.['value'] ?? 0),
    }),
    'DEFERRED',
  );
}

interface Period {
  /** The first hour of the period, in hours since the epoch. */
  readonly since: number;
  readonly release: string | undefined;
}

const IN_PERIOD = 'hour >= :since AND (:release IS NULL OR label = :release)';
const bound = ({ since, release }: Period) => ({ since, release: release ?? null });

function readReleases(database: DatabaseSync, { since }: Period): string[] {
  const rows = database
    .prepare(
      `SELECT label FROM releases WHERE
         EXISTS (SELECT 1 FROM traffic WHERE release = releases.id AND hour >= :since) OR
         EXISTS (SELECT 1 FROM entry_hours WHERE release = releases.id AND hour >= :since)
       ORDER BY last_seen_at, id`,
    )
    .all({ since });
  return rows.map((row) => String(row['label']));
}

/** Returns the history of every entry, keyed by the entry's row id. `hour` is the current hour. */
function readHistory(database: DatabaseSync, hour: number): ReadonlyMap<number, EntryHistory> {
  const firsts = database
    .prepare(
      `SELECT entry, label FROM
         (SELECT entry, release, row_number() OVER (PARTITION BY entry ORDER BY hour, release) AS place FROM entry_hours)
       JOIN releases ON releases.id = release WHERE place = 1`,
    )
    .all();
  const counts = database
    .prepare('SELECT entry, hour, sum(count) AS count FROM entry_hours WHERE hour > :before GROUP BY entry, hour')
    .all({ before: hour - HISTORY_HOURS });
  const recent = Map.groupBy(counts, (row) => Number(row['entry']));
  return new Map(
    firsts.map(({ entry, label }) => {
      const hours = Array.from({ length: HISTORY_HOURS }, () => 0);
      for (const row of recent.get(Number(entry)) ?? []) {
        const place = Number(row['hour']) - hour + HISTORY_HOURS - 1;
        if (place < HISTORY_HOURS) hours[place] = Number(row['count']);
      }
      return [Number(entry), { hours, firstRelease: String(label) }];
    }),
  );
}

function readEntries(
  database: DatabaseSync,
  period: Period,
  history: ReadonlyMap<number, EntryHistory> | undefined,
): LedgerEntry[] {
  const sums = new Map<number, Record<string, number>>();
  const counted = database.prepare(
    `SELECT entry, label, sum(count) AS count FROM entry_hours JOIN releases ON releases.id = release
     WHERE ${IN_PERIOD} GROUP BY entry, release`,
  );
  for (const { entry, label, count } of counted.all(bound(period))) {
    const known = sums.get(Number(entry)) ?? {};
    sums.set(Number(entry), Object.assign(known, { [String(label)]: Number(count) }));
  }
  const rows = database.prepare('SELECT * FROM entries ORDER BY last_seen_at DESC, id DESC').all();
  return rows.flatMap((row) => {
    const id = Number(row['id']);
    const releases = sums.get(id);
    const known = history?.get(id);
    return releases === undefined ? [] : [{ ...toEntry(row, releases), ...(known && { history: known }) }];
  });
}

function toEntry(row: Record<string, unknown>, releases: Record<string, number>): LedgerEntry {
  const facts = JSON.parse(String(row['facts'])) as EntryFacts;
  const samples = JSON.parse(String(row['samples'])) as (Partial<LedgerSample> & Omit<LedgerSample, 'found'>)[];
  return {
    ...facts,
    // JSON omits undefined fields.
    operation: facts.operation,
    status: facts.status,
    suggestion: facts.suggestion,
    count: Object.values(releases).reduce((sum, count) => sum + count, 0),
    firstSeenAt: Number(row['first_seen_at']),
    lastSeenAt: Number(row['last_seen_at']),
    callers: estimateDistinct(row['callers'] as Uint8Array),
    releases,
    samples: samples.map(({ requestId, seenAt, found }) => ({ requestId, seenAt, found })),
  };
}

function readTraffic(database: DatabaseSync, period: Period): OperationTraffic[] {
  const rows = database
    .prepare(
      `SELECT operation, label, name, sum(count) AS count FROM traffic JOIN releases ON releases.id = release
       WHERE ${IN_PERIOD} GROUP BY operation, release, name`,
    )
    .all(bound(period));
  const groups = Map.groupBy(rows, (row) => `${String(row['operation'])}\n${String(row['label'])}`);
  return [...groups.values()].map((group) => {
    const counts = new Map(group.map((row) => [String(row['name']), Number(row['count'])]));
    const [{ operation = '', label = '' } = {}] = group;
    return {
      operation: operation === '' ? undefined : String(operation),
      release: String(label),
      requests: counts.get('requests') ?? 0,
      checks: checksOf((name, outcome) => counts.get(`${name} ${outcome}`) ?? 0),
    };
  });
}

function readStatistics(database: DatabaseSync): ReleaseStatistics[] {
  const isStored = database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'statistics'`).get() !== undefined;
  if (!isStored) return [];
  const rows = database
    .prepare(
      `SELECT operation, label, name, count FROM statistics JOIN releases ON releases.id = release
       ORDER BY last_seen_at, releases.id, operation`,
    )
    .all();
  const groups = Map.groupBy(rows, (row) => `${String(row['operation'])}\n${String(row['label'])}`);
  return [...groups.values()].map((group) => ({
    operation: String(group[0]?.['operation']),
    release: String(group[0]?.['label']),
    counts: Object.fromEntries(group.map((row) => [String(row['name']), Number(row['count'])])),
  }));
}

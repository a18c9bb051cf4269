import type { DatabaseSync } from 'node:sqlite';
import { hourOf, HOUR_MS } from '../../../../lib/clock.ts';
import { DISTINCT_BYTES, markDistinct } from '../../../../lib/distinct-count.ts';
import { JUDGED_NAMES } from '../../../../engine/model/checks.ts';
import type { LedgerSample, LedgerQuery, LedgerSnapshot } from '../../../../engine/model/ledger-entry.ts';
import { STORED_RELEASES } from '../../../../engine/model/release-statistics.ts';
import { type StoreLimits, type StoreState, retentionStart } from '../../ledger-store.ts';
import { type EntryDelta, type LedgerBatch, MAX_SAMPLES, type TrafficDelta } from '../../ledger-batch.ts';
import { inTransaction } from '../../../../lib/sqlite-transaction.ts';
import { openLedgerDatabase, readSnapshot } from './ledger-database.ts';
import { SQLITE, sqliteCodeOf } from './ledger-file.ts';

/** The limits of a ledger file. */
export interface FileLimits extends StoreLimits {
  readonly maxBytes: number;
}

/** An open ledger file. All its methods run on the calling thread. */
export interface SqliteFile {
  write(batch: LedgerBatch): StoreState;
  read(query: LedgerQuery, takenAt: number): LedgerSnapshot;
  /** Copies SQLite's write-ahead log into the file, if possible. */
  checkpoint(): void;
  close(): void;
}

const MAX_TRIES = 12;

/** Opens a ledger file to write batches and read snapshots. Throws `LedgerStoreError`. */
export function openSqliteFile(path: string, limits: FileLimits, callerKey?: string): SqliteFile {
  const database = openLedgerDatabase(path, callerKey);
  const add = prepareBatch(database);
  const room = prepareRoom(database, limits);
  const addDropped = database.prepare(`UPDATE meta SET value = value + ? WHERE name = 'dropped'`);
  let tidiedHour = 0;

  const makeRoom = () =>
    inTransaction(database, () => {
      const rows = room.makeRoom();
      addDropped.run(rows);
      return rows;
    });
  const writeOnce = (batch: LedgerBatch, fits: () => void): StoreState =>
    inTransaction(database, () => {
      add(batch);
      if (hourOf(batch.writtenAt) !== tidiedHour) room.forget(batch.writtenAt);
      const dropped = room.evict();
      if (dropped > 0) addDropped.run(dropped);
      fits();
      return { entries: room.size(), dropped };
    });
  const writeWithRoom = (batch: LedgerBatch): StoreState => {
    let removed = 0;
    for (let tries = 1; ; tries++) {
      let fits = false;
      try {
        const state = writeOnce(batch, () => (fits = true));
        return { ...state, dropped: state.dropped + removed };
      } catch (error) {
        // If a batch fits in the file but cannot be committed, the disk is full, and removing rows would not help.
        if (sqliteCodeOf(error) !== SQLITE.full || fits || tries === MAX_TRIES) throw error;
        const rows = makeRoom();
        if (rows === 0) throw error;
        removed += rows;
      }
    }
  };
  limitSize(database, limits.maxBytes, makeRoom);
  return {
    write(batch) {
      const state = writeWithRoom(batch);
      const hour = hourOf(batch.writtenAt);
      if (hour !== tidiedHour) releaseSpace(database);
      tidiedHour = hour;
      return state;
    },
    read: (query, takenAt) => readSnapshot(database, query, takenAt),
    checkpoint: () => checkpoint(database),
    close: () => database.close(),
  };
}

const OUTCOMES = ['passed', 'reported', 'refused'] as const;

/**
 * Prepares the statements that add a batch to the tables. The returned function executes them and must be called within
 * a transaction.
 */
function prepareBatch(database: DatabaseSync): (batch: LedgerBatch) => void {
  const release = database.prepare(
    `INSERT INTO releases (label, last_seen_at) VALUES (?, ?)
     ON CONFLICT (label) DO UPDATE SET last_seen_at = max(last_seen_at, excluded.last_seen_at) RETURNING id`,
  );
  const entry = database.prepare(
    `INSERT INTO entries (fingerprint, direction, operation, facts, first_seen_at, last_seen_at, callers, samples)
     VALUES (?, ?, ?, ?, ?, ?, zeroblob(${DISTINCT_BYTES}), '[]')
     ON CONFLICT (fingerprint) DO UPDATE SET facts = excluded.facts,
       first_seen_at = min(first_seen_at, excluded.first_seen_at), last_seen_at = max(last_seen_at, excluded.last_seen_at)
     RETURNING id, callers, samples`,
  );
  const merge = database.prepare('UPDATE entries SET callers = ?, samples = ? WHERE id = ?');
  const hour = database.prepare(
    `INSERT INTO entry_hours (entry, release, hour, count) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  );
  const traffic = database.prepare(
    `INSERT INTO traffic (operation, release, hour, name, count) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  );
  const statistic = database.prepare(
    `INSERT INTO statistics (release, operation, name, count) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  );
  const forgetStatistics = database.prepare(
    `DELETE FROM statistics WHERE release NOT IN (SELECT id FROM releases ORDER BY last_seen_at DESC, id DESC LIMIT ?)`,
  );
  const dropped = database.prepare(`UPDATE meta SET value = value + ? WHERE name = 'dropped'`);

  const addEntry = (releaseId: number, { facts, firstSeenAt, lastSeenAt, hours, callers, samples }: EntryDelta) => {
    const { fingerprint, direction, operation } = facts;
    const stored = entry.get(fingerprint, direction, operation ?? null, JSON.stringify(facts), firstSeenAt, lastSeenAt);
    const id = Number(stored?.['id']);
    const bitmap = Uint8Array.from(stored?.['callers'] as Uint8Array);
    markDistinct(bitmap, callers);
    const before = JSON.parse(String(stored?.['samples'])) as LedgerSample[];
    merge.run(bitmap, JSON.stringify([...before, ...samples].slice(-MAX_SAMPLES)), id);
    for (const [at, count] of hours) hour.run(id, releaseId, at, count);
  };
  const addTraffic = (releaseId: number, { operation = '', hour: at, requests, checks }: TrafficDelta) => {
    if (requests > 0) traffic.run(operation, releaseId, at, 'requests', requests);
    for (const name of JUDGED_NAMES)
      for (const outcome of OUTCOMES) {
        const count = checks[name]?.[outcome] ?? 0;
        if (count > 0) traffic.run(operation, releaseId, at, `${name} ${outcome}`, count);
      }
  };
  let current: number | undefined;
  return (batch) => {
    const releaseId = Number(release.get(batch.release, batch.writtenAt)?.['id']);
    for (const delta of batch.entries) addEntry(releaseId, delta);
    for (const delta of batch.traffic) addTraffic(releaseId, delta);
    for (const { operation, counts } of batch.statistics)
      for (const [name, count] of Object.entries(counts)) statistic.run(releaseId, operation, name, count);
    if (releaseId !== current) forgetStatistics.run(STORED_RELEASES);
    current = releaseId;
    if (batch.dropped > 0) dropped.run(batch.dropped);
  };
}

/** Limits the size of the file. If the file grew larger under an earlier, higher limit, it is shrunk. */
function limitSize(database: DatabaseSync, maxBytes: number, makeRoom: () => number): void {
  const maxPages = Math.floor(maxBytes / numberOf(database, 'page_size'));
  while (numberOf(database, 'page_count') - numberOf(database, 'freelist_count') > maxPages && makeRoom() > 0);
  if (numberOf(database, 'page_count') > maxPages) database.exec('PRAGMA incremental_vacuum');
  database.exec(`PRAGMA max_page_count = ${maxPages}`);
}

/**
 * Releases the disk space of removed rows, in the file and in the write-ahead log. Does nothing while the file is
 * being read.
 */
function releaseSpace(database: DatabaseSync): void {
  if (numberOf(database, 'freelist_count') === 0) return;
  const timeout = numberOf(database, 'busy_timeout');
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);');
  } catch {
    // The file is in use or the disk is full. The next attempt is made an hour later.
  } finally {
    database.exec(`PRAGMA busy_timeout = ${timeout}`);
  }
}

/** Copies the write-ahead log into the file. SQLite does not do this automatically if the file has been renamed. */
function checkpoint(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // The disk is full. The file remains as it was at the last checkpoint.
  }
}

const numberOf = (database: DatabaseSync, pragma: string) =>
  Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);

/** Keeps a ledger file within its limits. All methods must run in a transaction. */
interface SqliteRoom {
  /** Removes everything that is older than the retention period. */
  forget(now: number): void;
  /**
   * Removes entries until neither direction exceeds its limit. Entries are removed from the rule that has the most
   * entries, starting with the least recently seen ones. Returns the number of entries removed.
   */
  evict(): number;
  /**
   * Removes the oldest rows from a full file. Returns the number of rows removed, or 0 if the file has no more rows.
   */
  makeRoom(): number;
  /** Returns the number of entries. */
  size(): number;
}

/** Prepares the statements for removing rows. */
function prepareRoom(database: DatabaseSync, { maxEntries, retentionDays }: StoreLimits): SqliteRoom {
  const share = Math.max(1, Math.floor(maxEntries / 2));
  const count = database.prepare('SELECT count(*) AS count FROM entries WHERE direction = ?');
  const removeOldest = database.prepare(
    // Entries are ranked within their rule, so that made-up names displace only other made-up names.
    `DELETE FROM entries WHERE id IN (
       SELECT id FROM (
         SELECT id, last_seen_at,
           row_number() OVER (PARTITION BY operation, facts ->> '$.keyword' ORDER BY last_seen_at DESC, id DESC) AS place
         FROM entries WHERE direction = ?
       ) ORDER BY place DESC, last_seen_at, id LIMIT ?)`,
  );
  const span = database.prepare(
    `SELECT min(hour) AS first, max(hour) AS last FROM (SELECT hour FROM entry_hours UNION ALL SELECT hour FROM traffic)`,
  );
  const forgetHours = database.prepare('DELETE FROM entry_hours WHERE hour < ?');
  const forgetTraffic = database.prepare('DELETE FROM traffic WHERE hour < ?');
  const forgetEntries = database.prepare('DELETE FROM entries WHERE last_seen_at < ?');
  const forgetReleases = database.prepare('DELETE FROM releases WHERE last_seen_at < ?');

  const countOf = (direction: string) => Number(count.get(direction)?.['count'] ?? 0);
  const remove = (direction: string, number: number): number =>
    number <= 0 ? 0 : Number(removeOldest.run(direction, number).changes);
  const dropHours = (before: number) =>
    Number(forgetHours.run(before).changes) + Number(forgetTraffic.run(before).changes);

  return {
    forget(now) {
      const before = retentionStart(now, retentionDays);
      forgetEntries.run(before);
      dropHours(hourOf(before));
      forgetReleases.run(before);
    },
    evict: () => remove('request', countOf('request') - share) + remove('response', countOf('response') - share),
    makeRoom() {
      const { first, last } = span.get() ?? {};
      // The oldest hours are removed first, because old counts matter less than violations.
      if (Number(first) < Number(last)) {
        const before = Number(first) + Math.ceil((Number(last) - Number(first)) / 4);
        return Number(forgetEntries.run(before * HOUR_MS).changes) + dropHours(before);
      }
      return (
        remove('request', Math.ceil(countOf('request') / 4)) + remove('response', Math.ceil(countOf('response') / 4))
      );
    },
    size: () => countOf('request') + countOf('response'),
  };
}

import type { DatabaseSync } from 'node:sqlite';
import { hourOf, type LedgerBatch } from './ledger-batch.ts';
import { openLedgerDatabase } from './ledger-database.ts';
import type { LedgerStore, StoreLimits, StoreState } from './ledger-store.ts';
import { prepareBatch } from './sqlite-batch.ts';
import { SQLITE, sqliteCodeOf } from './sqlite-errors.ts';
import { prepareRoom } from './sqlite-room.ts';
import { readSnapshot } from './sqlite-snapshot.ts';
import { inTransaction } from './sqlite-transaction.ts';

/** How much a ledger's file may hold. */
export interface FileLimits extends StoreLimits {
  readonly maxBytes: number;
}

const MAX_TRIES = 12;

/** Opens a store in a SQLite file, in the thread that calls; throws LedgerFileError. */
export function openSqliteStore(path: string, limits: FileLimits, callerKey?: string): LedgerStore {
  const database = openLedgerDatabase(path, callerKey);
  const add = prepareBatch(database);
  const room = prepareRoom(database, limits);
  const addDropped = database.prepare(`UPDATE meta SET value = value + ? WHERE name = 'dropped'`);
  let tidiedHour = 0;

  const makeRoom = () => {
    const gone = inTransaction(database, () => {
      const pieces = room.makeRoom();
      addDropped.run(pieces);
      return pieces;
    });
    return gone;
  };
  const writeOnce = (batch: LedgerBatch): StoreState =>
    inTransaction(database, () => {
      add(batch);
      const hour = hourOf(batch.writtenAt);
      if (hour !== tidiedHour) room.forget(batch.writtenAt);
      tidiedHour = hour;
      const dropped = room.evict();
      if (dropped > 0) addDropped.run(dropped);
      return { entries: room.size(), dropped };
    });
  const write = (batch: LedgerBatch): StoreState => {
    let gone = 0;
    for (let tries = 1; ; tries++) {
      try {
        const state = writeOnce(batch);
        return { ...state, dropped: state.dropped + gone };
      } catch (error) {
        if (sqliteCodeOf(error) !== SQLITE.full || tries === MAX_TRIES) throw error;
        const pieces = makeRoom();
        if (pieces === 0) throw error;
        gone += pieces;
      }
    }
  };
  bound(database, limits.maxBytes, makeRoom);
  return {
    write: async (batch) => Promise.resolve(write(batch)),
    read: async (query, takenAt) => Promise.resolve(readSnapshot(database, query, takenAt)),
    close: async () => Promise.resolve(database.close()),
  };
}

/** Holds the file to its size; one that was allowed to grow larger before is made smaller. */
function bound(database: DatabaseSync, maxBytes: number, makeRoom: () => number): void {
  const pragma = (name: string) => Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  const maxPages = Math.floor(maxBytes / pragma('page_size'));
  while (pragma('page_count') - pragma('freelist_count') > maxPages && makeRoom() > 0);
  if (pragma('page_count') > maxPages) database.exec('PRAGMA incremental_vacuum');
  database.exec(`PRAGMA max_page_count = ${maxPages}`);
}

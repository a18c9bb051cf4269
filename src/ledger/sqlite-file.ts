import { hourOf } from '../lib/hours.ts';
import type { LedgerQuery, LedgerSnapshot } from '../model/ledger-snapshot.ts';
import type { LedgerBatch } from './ledger-batch.ts';
import { openLedgerDatabase } from './ledger-database.ts';
import type { StoreLimits, StoreState } from './ledger-store.ts';
import { prepareBatch } from './sqlite-batch.ts';
import { SQLITE, sqliteCodeOf } from './sqlite-errors.ts';
import { prepareRoom } from './sqlite-room.ts';
import { boundFile, gather, giveBack } from './sqlite-size.ts';
import { readSnapshot } from './sqlite-snapshot.ts';
import { inTransaction } from './sqlite-transaction.ts';

/** How much a ledger's file may hold. */
export interface FileLimits extends StoreLimits {
  readonly maxBytes: number;
}

/** An open file of a ledger; everything happens in the thread that calls. */
export interface SqliteFile {
  write(batch: LedgerBatch): StoreState;
  read(query: LedgerQuery, takenAt: number): LedgerSnapshot;
  /** Puts what is in the log of SQLite beside the file into it, where that can be done. */
  gather(): void;
  close(): void;
}

const MAX_TRIES = 12;

/** Opens a ledger's file for batches and snapshots; throws LedgerFileError. */
export function openSqliteFile(path: string, limits: FileLimits, callerKey?: string): SqliteFile {
  const database = openLedgerDatabase(path, callerKey);
  const add = prepareBatch(database);
  const room = prepareRoom(database, limits);
  const addDropped = database.prepare(`UPDATE meta SET value = value + ? WHERE name = 'dropped'`);
  let tidiedHour = 0;

  const makeRoom = () =>
    inTransaction(database, () => {
      const pieces = room.makeRoom();
      addDropped.run(pieces);
      return pieces;
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
    let gone = 0;
    for (let tries = 1; ; tries++) {
      let fits = false;
      try {
        const state = writeOnce(batch, () => (fits = true));
        return { ...state, dropped: state.dropped + gone };
      } catch (error) {
        // What is within the bounds and cannot be committed found the disk full: nothing that goes from here helps there.
        if (sqliteCodeOf(error) !== SQLITE.full || fits || tries === MAX_TRIES) throw error;
        const pieces = makeRoom();
        if (pieces === 0) throw error;
        gone += pieces;
      }
    }
  };
  boundFile(database, limits.maxBytes, makeRoom);
  return {
    write(batch) {
      const state = writeWithRoom(batch);
      const hour = hourOf(batch.writtenAt);
      if (hour !== tidiedHour) giveBack(database);
      tidiedHour = hour;
      return state;
    },
    read: (query, takenAt) => readSnapshot(database, query, takenAt),
    gather: () => gather(database),
    close: () => database.close(),
  };
}

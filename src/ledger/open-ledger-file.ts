import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../lib/clock.ts';
import { StartFault } from '../model/fault.ts';
import type { LedgerQuery, LedgerReader, LedgerSnapshot } from '../model/ledger-snapshot.ts';
import { readLedgerDatabase } from './ledger-database.ts';
import { LedgerFileError } from './ledger-file-error.ts';
import { readSnapshot } from './sqlite-snapshot.ts';

/** Opens a ledger's file for reading, also beside a gateway that writes it; throws StartFault where it is none of ours. */
export function openLedgerFile(path: string, clock: Clock = systemClock): LedgerReader & { close(): void } {
  // It holds nothing while a gateway has not seen a request yet.
  const opened = () => (statSync(path, { throwIfNoEntry: false })?.size === 0 ? undefined : openForReading(path));
  let database = opened();
  return {
    snapshot: async (query = {}) => {
      database ??= opened();
      return Promise.resolve(database ? readSnapshot(database, query, clock()) : nothingYet(query, clock()));
    },
    close: () => database?.close(),
  };
}

function nothingYet({ since }: LedgerQuery, takenAt: number): LedgerSnapshot {
  return { takenAt, since, releases: [], entries: [], traffic: [], dropped: 0 };
}

function openForReading(path: string): DatabaseSync {
  try {
    return readLedgerDatabase(path);
  } catch (error) {
    if (!(error instanceof LedgerFileError)) throw error;
    throw new StartFault([{ source: path, pointer: '', message: error.message, suggestion: error.fix }]);
  }
}

import type { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../lib/clock.ts';
import { StartFault } from '../model/fault.ts';
import type { LedgerReader } from '../model/ledger-snapshot.ts';
import { readLedgerDatabase } from './ledger-database.ts';
import { LedgerFileError } from './ledger-file-error.ts';
import { readSnapshot } from './sqlite-snapshot.ts';

/** Opens a ledger's file for reading, also beside a gateway that writes it; throws StartFault where it is none of ours. */
export function openLedgerFile(path: string, clock: Clock = systemClock): LedgerReader & { close(): void } {
  const database = openForReading(path);
  return {
    snapshot: async (query = {}) => Promise.resolve(readSnapshot(database, query, clock())),
    close: () => database.close(),
  };
}

function openForReading(path: string): DatabaseSync {
  try {
    return readLedgerDatabase(path);
  } catch (error) {
    if (!(error instanceof LedgerFileError)) throw error;
    throw new StartFault([{ source: path, pointer: '', message: error.message, suggestion: error.fix }]);
  }
}

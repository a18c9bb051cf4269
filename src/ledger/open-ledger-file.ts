import type { LedgerReader } from '../model/ledger-snapshot.ts';
import { readLedgerDatabase } from './ledger-database.ts';
import { readSnapshot } from './sqlite-snapshot.ts';
import { type Clock, systemClock } from '../lib/clock.ts';

/** Opens a ledger's file for reading, also beside a gateway that writes it; throws LedgerFileError. */
export function openLedgerFile(path: string, clock: Clock = systemClock): LedgerReader & { close(): void } {
  const database = readLedgerDatabase(path);
  return {
    snapshot: async (query = {}) => Promise.resolve(readSnapshot(database, query, clock())),
    close: () => database.close(),
  };
}

import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../../../../lib/clock.ts';
import { StartFault } from '../../../../engine/model/fault.ts';
import { type LedgerReader, emptySnapshot } from '../../../../engine/model/ledger-entry.ts';
import { LedgerStoreError } from '../../ledger-store.ts';
import { readLedgerDatabase, readSnapshot } from './ledger-database.ts';
import { convertFileErrors } from './ledger-file.ts';

/**
 * Opens a ledger file for reading, even while a gateway is writing to it. Throws `StartFault` if the file cannot be
 * used.
 */
export function openLedgerFile(path: string, clock: Clock = systemClock): LedgerReader & { close(): void } {
  let database = openForReading(path);
  return {
    snapshot: async (query = {}) => {
      const open = (database ??= openForReading(path));
      if (open === undefined) return Promise.resolve(emptySnapshot(query, clock()));
      return Promise.resolve(toStartFault(path, () => readSnapshot(open, query, clock())));
    },
    close: () => database?.close(),
  };
}

/**
 * Opens the file. Returns undefined if the file is empty, that is, if the gateway that created it has not received any
 * requests.
 */
function openForReading(path: string): DatabaseSync | undefined {
  return toStartFault(path, () => {
    try {
      return readLedgerDatabase(path);
    } catch (error) {
      if (error instanceof LedgerStoreError && error.problem === 'missing' && existsSync(path)) return undefined;
      throw error;
    }
  });
}

/** Converts file errors to `StartFault`. Some damage is detected only when the file's data is read. */
function toStartFault<T>(path: string, work: () => T): T {
  try {
    return convertFileErrors(path, work);
  } catch (error) {
    if (!(error instanceof LedgerStoreError)) throw error;
    throw new StartFault([{ source: path, pointer: '', message: error.message, suggestion: error.fix }]);
  }
}

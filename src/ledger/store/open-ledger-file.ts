import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { StartFault } from '../../model/fault.ts';
import type { LedgerQuery, LedgerReader, LedgerSnapshot } from '../../model/ledger-snapshot.ts';
import { readLedgerDatabase } from './ledger-database.ts';
import { LedgerFileError } from './ledger-file-error.ts';
import { readSnapshot } from './sqlite-snapshot.ts';
import { convertFileErrors } from './ledger-file-error.ts';

/** Opens a ledger file for reading, even while a gateway writes it. Throws StartFault if it cannot be used. */
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

function emptySnapshot({ since }: LedgerQuery, takenAt: number): LedgerSnapshot {
  return { takenAt, since, releases: [], entries: [], traffic: [], dropped: 0 };
}

/** Returns undefined while the file is empty: a gateway has created it but not received a request yet. */
function openForReading(path: string): DatabaseSync | undefined {
  return toStartFault(path, () => {
    try {
      return readLedgerDatabase(path);
    } catch (error) {
      if (error instanceof LedgerFileError && error.problem === 'missing' && existsSync(path)) return undefined;
      throw error;
    }
  });
}

/** Converts errors about the file to StartFault. Damage may show only when the file is read. */
function toStartFault<T>(path: string, work: () => T): T {
  try {
    return convertFileErrors(path, work);
  } catch (error) {
    if (!(error instanceof LedgerFileError)) throw error;
    throw new StartFault([{ source: path, pointer: '', message: error.message, suggestion: error.fix }]);
  }
}

import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { StartFault } from '../../model/fault.ts';
import type { LedgerQuery, LedgerReader, LedgerSnapshot } from '../../model/ledger-snapshot.ts';
import { readLedgerDatabase } from './ledger-database.ts';
import { LedgerFileError } from './ledger-file-error.ts';
import { readSnapshot } from './sqlite-snapshot.ts';
import { tellFault } from './ledger-file-error.ts';

/** Opens a ledger's file for reading, also beside a gateway that writes it; throws StartFault where it is none of ours. */
export function openLedgerFile(path: string, clock: Clock = systemClock): LedgerReader & { close(): void } {
  let database = openForReading(path);
  return {
    snapshot: async (query = {}) => {
      const open = (database ??= openForReading(path));
      if (open === undefined) return Promise.resolve(nothingYet(query, clock()));
      return Promise.resolve(orFault(path, () => readSnapshot(open, query, clock())));
    },
    close: () => database?.close(),
  };
}

function nothingYet({ since }: LedgerQuery, takenAt: number): LedgerSnapshot {
  return { takenAt, since, releases: [], entries: [], traffic: [], dropped: 0 };
}

/** Undefined while the file holds nothing, because a gateway has begun it and seen no request yet. */
function openForReading(path: string): DatabaseSync | undefined {
  return orFault(path, () => {
    try {
      return readLedgerDatabase(path);
    } catch (error) {
      if (error instanceof LedgerFileError && error.problem === 'missing' && existsSync(path)) return undefined;
      throw error;
    }
  });
}

/** Names the file where it cannot be used; damage may show only where it is read. */
function orFault<T>(path: string, work: () => T): T {
  try {
    return tellFault(path, work);
  } catch (error) {
    if (!(error instanceof LedgerFileError)) throw error;
    throw new StartFault([{ source: path, pointer: '', message: error.message, suggestion: error.fix }]);
  }
}

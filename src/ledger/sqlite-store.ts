import { rmSync, statSync } from 'node:fs';
import { openSqliteFile, type FileLimits, type SqliteFile } from './sqlite-file.ts';
import type { LedgerStore } from './ledger-store.ts';

/**
 * Opens a store in a SQLite file, in the thread that calls; throws LedgerFileError. When the file was taken away or replaced
 * in the meantime, the next batch goes to what is there now: what is written to a file without a name nobody ever reads.
 */
export function openSqliteStore(path: string, limits: FileLimits, callerKey?: string): LedgerStore {
  let file: SqliteFile | undefined = openSqliteFile(path, limits, callerKey);
  let opened = inodeOf(path);
  const there = (): SqliteFile => {
    const now = inodeOf(path);
    if (file !== undefined && now === opened) return file;
    file?.close();
    file = undefined;
    // What belongs to a file that is gone must not be taken for a part of the next one.
    if (now === undefined) for (const ending of ['-wal', '-shm']) rmSync(path + ending, { force: true });
    file = openSqliteFile(path, limits, callerKey);
    opened = inodeOf(path);
    return file;
  };
  return {
    write: (batch) => settle(() => there().write(batch)),
    read: (query, takenAt) => settle(() => there().read(query, takenAt)),
    close: () => settle(() => file?.close()),
  };
}

/** What throws rejects: a file that cannot be opened again is a batch that is lost, and not the end of the store. */
const settle = async <T>(act: () => T): Promise<T> => new Promise((resolve) => resolve(act()));

function inodeOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev} ${stats.ino}`;
}

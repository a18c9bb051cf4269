import { rmSync, statSync } from 'node:fs';
import { IN_MEMORY } from '../../../../lib/replace-file.ts';
import { openSqliteFile, type FileLimits, type SqliteFile } from './sqlite-file.ts';
import type { LedgerStore } from '../../ledger-store.ts';

/** The suffixes of the files that SQLite creates next to an open database. */
const COMPANIONS = ['-wal', '-shm'] as const;

interface Opened {
  readonly file: SqliteFile;
  /** The inode, which identifies the file even after it has been renamed. */
  readonly inode: string | undefined;
  /** The inodes of the companion files, keyed by path. */
  readonly companions: ReadonlyMap<string, string | undefined>;
}

/**
 * Opens a store in an SQLite file or in memory, in the calling thread. Throws `LedgerStoreError`. If the file is later removed or
 * replaced, the next batch is written to a new file at the original path, because other processes cannot read a removed
 * file.
 */
export function openSqliteStore(path: string, limits: FileLimits, callerKey?: string): LedgerStore {
  let opened: Opened | undefined = open(path, limits, callerKey);
  const release = () => {
    const before = opened;
    opened = undefined;
    if (before?.inode === inodeOf(path)) before?.file.close();
    else if (before !== undefined) closeMoved(before);
  };
  const currentFile = (): SqliteFile => {
    if (opened !== undefined && inodeOf(path) === opened.inode) return opened.file;
    release();
    opened = open(path, limits, callerKey);
    return opened.file;
  };
  return {
    write: (batch) => toPromise(() => currentFile().write(batch)),
    read: (query, takenAt) => toPromise(() => currentFile().read(query, takenAt)),
    close: () => toPromise(release),
  };
}

function open(path: string, limits: FileLimits, callerKey: string | undefined): Opened {
  const file = openSqliteFile(path, limits, callerKey);
  const companions = COMPANIONS.map((ending) => [path + ending, inodeOf(path + ending)] as const);
  return { file, inode: inodeOf(path), companions: new Map(companions) };
}

/**
 * Copies the write-ahead log into a file that has been moved, and closes the file. Removes the companion files from
 * the old location so that SQLite does not use them for the next file.
 */
function closeMoved({ file, companions }: Opened): void {
  file.checkpoint();
  file.close();
  for (const [companion, inode] of companions)
    if (inode !== undefined && inodeOf(companion) === inode) rmSync(companion, { force: true });
}

/**
 * Converts an exception to a rejection. If a file cannot be reopened, the batch is lost, but the store stays usable.
 */
const toPromise = async <T>(act: () => T): Promise<T> => new Promise((resolve) => resolve(act()));

function inodeOf(path: string): string | undefined {
  if (path === IN_MEMORY) return undefined;
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev} ${stats.ino}`;
}

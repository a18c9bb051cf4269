import { rmSync, statSync } from 'node:fs';
import { openSqliteFile, type FileLimits, type SqliteFile } from './sqlite-file.ts';
import type { LedgerStore } from '../ledger-store.ts';

/** What SQLite keeps beside a database while it is open. */
const COMPANIONS = ['-wal', '-shm'] as const;

interface Opened {
  readonly file: SqliteFile;
  /** What the file and each of its companions are on the disk, whatever their names come to stand for. */
  readonly inode: string | undefined;
  readonly companions: ReadonlyMap<string, string | undefined>;
}

/**
 * Opens a store in a SQLite file, in the thread that calls; throws LedgerFileError. When the file was taken away or replaced
 * in the meantime, the next batch goes to what is there now: what is written to a file without a name nobody ever reads.
 */
export function openSqliteStore(path: string, limits: FileLimits, callerKey?: string): LedgerStore {
  let opened: Opened | undefined = open(path, limits, callerKey);
  const leave = () => {
    const before = opened;
    opened = undefined;
    if (before?.inode === inodeOf(path)) before?.file.close();
    else if (before !== undefined) leaveMoved(before);
  };
  const there = (): SqliteFile => {
    if (opened !== undefined && inodeOf(path) === opened.inode) return opened.file;
    leave();
    opened = open(path, limits, callerKey);
    return opened.file;
  };
  return {
    write: (batch) => settle(() => there().write(batch)),
    read: (query, takenAt) => settle(() => there().read(query, takenAt)),
    close: () => settle(leave),
  };
}

function open(path: string, limits: FileLimits, callerKey: string | undefined): Opened {
  const file = openSqliteFile(path, limits, callerKey);
  const companions = COMPANIONS.map((ending) => [path + ending, inodeOf(path + ending)] as const);
  return { file, inode: inodeOf(path), companions: new Map(companions) };
}

/** Leaves a file that is elsewhere now, whole and by itself: what is beside its old place must not be taken for a part of the next one. */
function leaveMoved({ file, companions }: Opened): void {
  file.gather();
  file.close();
  for (const [companion, inode] of companions)
    if (inode !== undefined && inodeOf(companion) === inode) rmSync(companion, { force: true });
}

/** What throws rejects: a file that cannot be opened again is a batch that is lost, and not the end of the store. */
const settle = async <T>(act: () => T): Promise<T> => new Promise((resolve) => resolve(act()));

function inodeOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev} ${stats.ino}`;
}

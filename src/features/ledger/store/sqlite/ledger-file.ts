import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileReason } from '../../../../lib/file-reason.ts';
import { makeFolder } from '../../../../lib/replace-file.ts';
import { LedgerStoreError } from '../../ledger-store.ts';

/** The suggested fix if the file is not a ledger of this version. */
export const USE_ANOTHER_FILE = 'set ledger.file to another file, or move this one away';

/**
 * Creates a ledger file and, if necessary, its folder, and checks that the file is writable. Returns true if the file
 * is empty. The file must exist before SQLite opens it, because SQLite would create it with permissions that let all
 * users read it. SQLite's companion files inherit the permissions of the ledger file.
 */
export function beginFile(path: string): boolean {
  return convertFileErrors(path, () => {
    makeFolder(dirname(path));
    const file = openSync(path, 'a', 0o600);
    try {
      return fstatSync(file).size === 0;
    } finally {
      closeSync(file);
    }
  });
}

/** Runs an operation on a ledger file. Converts system errors and SQLite errors to `LedgerStoreError`. */
export function convertFileErrors<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof LedgerStoreError) throw error;
    const code = sqliteCodeOf(error);
    if (code === SQLITE.notADatabase)
      throw new LedgerStoreError('not ours', `${path} is not an SQLite database`, USE_ANOTHER_FILE);
    if (code === SQLITE.corrupt) throw new LedgerStoreError('not ours', `${path} is damaged`, USE_ANOTHER_FILE);
    if (code === undefined && !(error instanceof Error && 'syscall' in error)) throw error;
    throw new LedgerStoreError(
      'unusable',
      `${path} cannot be opened: ${reasonOf(error, path)}`,
      'set ledger.file to a writable file',
    );
  }
}

/** SQLite reports a folder as an error of the disk. */
function reasonOf(error: unknown, path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return 'it is a folder, not a file';
  return error instanceof Error && 'errstr' in error ? String(error.errstr) : fileReason(error);
}

/** The SQLite result codes that the ledger handles (https://www.sqlite.org/rescode.html). */
export const SQLITE = { busy: 5, readOnly: 8, corrupt: 11, full: 13, cannotOpen: 14, notADatabase: 26 } as const;

/** Returns the primary result code of an SQLite error. Returns undefined for any other error. */
export function sqliteCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode & 0xff;
}

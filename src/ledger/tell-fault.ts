import { LedgerFileError } from './ledger-file-error.ts';
import { SQLITE, sqliteCodeOf } from './sqlite-errors.ts';

/** What to do where the file at the place of the ledger is somebody else's. */
export const ANOTHER_FILE = 'name another file in ledger.file, or move this one away';

/** Does something with a ledger's file; throws LedgerFileError in words for what the system or SQLite says of it. */
export function tellFault<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof LedgerFileError) throw error;
    const code = sqliteCodeOf(error);
    if (code === SQLITE.notADatabase)
      throw new LedgerFileError('not ours', `${path} is no SQLite database`, ANOTHER_FILE);
    if (code === SQLITE.corrupt) throw new LedgerFileError('not ours', `${path} is damaged`, ANOTHER_FILE);
    if (code === undefined && !(error instanceof Error && 'syscall' in error)) throw error;
    throw new LedgerFileError(
      'unusable',
      `${path} cannot be opened (${reasonOf(error)})`,
      'name a file that can be written',
    );
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  return 'errstr' in error ? String(error.errstr) : 'code' in error ? String(error.code) : error.message;
}

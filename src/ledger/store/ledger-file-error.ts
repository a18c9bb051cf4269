/** Why a ledger's file is not used: it cannot be reached, or it is not one that this version may touch. */
export type LedgerFileProblem = 'missing' | 'unusable' | 'not ours';

/** Says what is wrong with a ledger's file, in words for the person who named it. */
export class LedgerFileError extends Error {
  override readonly name = 'LedgerFileError';
  readonly problem: LedgerFileProblem;
  readonly fix: string;

  constructor(problem: LedgerFileProblem, message: string, fix: string) {
    super(message);
    this.problem = problem;
    this.fix = fix;
  }
}

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

/** The result codes of SQLite that decide something here (https://www.sqlite.org/rescode.html). */
export const SQLITE = { busy: 5, readOnly: 8, corrupt: 11, full: 13, cannotOpen: 14, notADatabase: 26 } as const;

/** The primary result code of what SQLite threw; undefined for every other error. */
export function sqliteCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode & 0xff;
}

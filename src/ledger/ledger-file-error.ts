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

/** One thing wrong with the contract, the rules or the configuration, found at start. */
export interface Fault {
  /** The file, environment variable or flag it was found in. */
  readonly source: string;
  /** JSON pointer into it; empty for the whole. */
  readonly pointer: string;
  readonly message: string;
  /** What to write instead, when that can be guessed. */
  readonly suggestion?: string;
}

/** Carries all faults found at start, so that they are reported together. */
export class StartFault extends Error {
  override readonly name = 'StartFault';
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map((fault) => `${fault.source}${fault.pointer && ` ${fault.pointer}`}: ${fault.message}`).join('\n'));
    this.faults = faults;
  }
}

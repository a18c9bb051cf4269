/** A configuration error: an error in the contract, the roles file or the configuration, found at startup. */
export interface Fault {
  /** The file, environment variable or flag that contains the error. */
  readonly source: string;
  /** JSON pointer into the source; empty for the whole source. */
  readonly pointer: string;
  readonly message: string;
  /** A suggested replacement, if one can be guessed. */
  readonly suggestion?: string;
}

/** Carries all configuration errors found at startup, so that they are reported in one run. */
export class StartFault extends Error {
  override readonly name = 'StartFault';
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map((fault) => `${fault.source}${fault.pointer && ` ${fault.pointer}`}: ${fault.message}`).join('\n'));
    this.faults = faults;
  }
}

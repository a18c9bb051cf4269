/** An error in the configuration, the contract or the roles file, found at startup or during a reload. */
export interface Fault {
  /** The file, environment variable or flag that contains the error. */
  readonly source: string;
  /** The JSON pointer to the error within the source. Empty if the error applies to the whole source. */
  readonly pointer: string;
  readonly message: string;
  /** A suggested replacement, if there is a likely one. */
  readonly suggestion?: string;
}

/** Returns the faults for the errors in the syntax of a text. `suggestion` applies to all of them. */
export function syntaxFaults(
  source: string,
  errors: readonly { readonly line: number | undefined; readonly message: string }[],
  suggestion?: string,
): Fault[] {
  return errors.map(({ line, message }) => ({
    source: line === undefined ? source : `${source}:${line}`,
    pointer: '',
    message,
    ...(suggestion !== undefined && { suggestion }),
  }));
}

/** Removes duplicates from a list of errors, because several steps can find the same error. */
export function distinctFaults(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.map((fault) => [JSON.stringify(fault), fault])).values()];
}

/** Thrown at startup or during a reload. Contains all configuration errors so that they can be reported together. */
export class StartFault extends Error {
  override readonly name = 'StartFault';
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map((fault) => `${fault.source}${fault.pointer && ` ${fault.pointer}`}: ${fault.message}`).join('\n'));
    this.faults = faults;
  }
}

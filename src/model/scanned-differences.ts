/** A place where a scan found that an expected field is absent or that a string has an unexpected form. */
export interface Departure {
  /** The names and indices that lead to the field. */
  readonly path: readonly (string | number)[];
  /** The string with the unexpected form. Undefined if the field is absent. */
  readonly text: string | undefined;
}

/** The differences from the contract that a scan found in a valid body. */
export interface ScannedDifferences {
  /**
   * The body reduced to its undocumented fields, or undefined if there are none. If several places differ only in array
   * indices, only the first is included. The value of an integer may be the one that it had in an earlier body.
   */
  readonly undocumented: unknown;
  /** The absent fields and the strings with an unexpected form. For each place, only the first is included. */
  readonly departures: readonly Departure[];
}

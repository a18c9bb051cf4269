/** A place where a scan found that an expected field is absent, or that a text has an unexpected form. */
export interface Departure {
  /** The names and indices that lead to the field. */
  readonly path: readonly (string | number)[];
  /** The text with the unexpected form. Undefined if the field is absent. */
  readonly text: string | undefined;
}

/** The differences from the contract that a scan of a valid body has found. */
export interface ScannedDifferences {
  /**
   * The body with only its undocumented fields, or undefined if it has none. If places differ only in array indices,
   * only the first is included. An integer may have the value that it had in an earlier body.
   */
  readonly undocumented: unknown;
  /** The absent fields and the texts with unexpected forms: for each place, the first one. */
  readonly departures: readonly Departure[];
}

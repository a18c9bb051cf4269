/** A violation that a team knows of and accepts, with who answers for it and until when. */
export interface AcceptedViolation {
  readonly fingerprint: string;
  readonly reason: string;
  readonly owner: string;
  /** The last day on which it is accepted, `YYYY-MM-DD`; undefined for no end. */
  readonly expires: string | undefined;
  /** What it was when it was accepted, for readers of the file. */
  readonly summary: string | undefined;
}

/** Everything that is accepted. */
export interface Baseline {
  readonly accepted: readonly AcceptedViolation[];
}

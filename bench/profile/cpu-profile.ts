/** What `node --cpu-prof` writes. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Microseconds of the clock that does not jump. */
  readonly startTime: number;
  readonly endTime: number;
  /** The node that each sample was taken in. */
  readonly samples: readonly number[];
  /** Microseconds between the sample before and this one. */
  readonly timeDeltas: readonly number[];
}

/** A function with the way that it was called. */
export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

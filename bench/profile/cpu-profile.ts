/** A profile in the format of `node --cpu-prof`. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The start time according to the monotonic clock, in microseconds. */
  readonly startTime: number;
  readonly endTime: number;
  /** For each sample, the id of its node. */
  readonly samples: readonly number[];
  /** For each sample, the time since the previous sample, in microseconds. */
  readonly timeDeltas: readonly number[];
}

/** A function in the call tree. There is one node for each chain of callers that led to the function. */
export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

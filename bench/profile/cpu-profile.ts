/** A profile in the format of `node --cpu-prof`. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The start time in microseconds of the monotonic clock. */
  readonly startTime: number;
  readonly endTime: number;
  /** The node ids of the samples. */
  readonly samples: readonly number[];
  /** The time between each sample and the previous one, in microseconds. */
  readonly timeDeltas: readonly number[];
}

/** A function in the call tree, reached through a specific chain of callers. */
export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

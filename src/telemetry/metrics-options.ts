import type { Checks, ModeName } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';
import type { Trace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';

/** The values, known at startup, that determine the label sets. */
export interface MetricsOptions {
  readonly operations: readonly Pick<Operation, 'id' | 'paging' | 'cacheability' | 'carriesPrivateFields'>[];
  /** Names of the permissions, groups and flags that a denied caller may lack. */
  readonly permissions: readonly string[];
  /** Returns whether the baseline accepts a violation. If undefined, no violation is accepted. */
  readonly isAccepted?: (trace: Trace, violation: Violation) => boolean;
  readonly mode: ModeName;
  /** The global levels; operations may override them. */
  readonly checks: Checks;
  readonly version: string;
  readonly contractVersion: string;
  /** The upstream's release label (`release` in the configuration). */
  readonly release: string;
  /** A digest of the configuration in use. */
  readonly configurationHash?: string;
  /** When the configuration was loaded, in epoch milliseconds. */
  readonly loadedAt?: number;
  /** Upper bounds in seconds that replace the defaults of all histograms. */
  readonly buckets?: readonly number[];
  /** True to record exemplars: the latest sampled trace of each bucket. They are shown only in the OpenMetrics format. */
  readonly exemplars?: boolean;
  /** The maximum number of series. Operations beyond it share the series `folded`. */
  readonly maxSeries?: number;
}

import type { Checks, ModeName } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';

/** The values, known at startup, that determine the label sets. */
export interface MetricsOptions {
  readonly operations: readonly Pick<Operation, 'id' | 'paging' | 'cacheability' | 'carriesPrivateFields'>[];
  /** Names of the permissions, groups and flags that a denied caller may lack. */
  readonly permissions: readonly string[];
  readonly mode: ModeName;
  /** The global levels; operations may override them. */
  readonly checks: Checks;
  readonly version: string;
  readonly contractVersion: string;
  /** Upper bounds in seconds that replace the defaults of all histograms. */
  readonly buckets?: readonly number[];
  /** The maximum number of series. Operations beyond it share the series `folded`. */
  readonly maxSeries?: number;
}

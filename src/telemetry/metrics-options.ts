import type { Checks, ModeName } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';

/** What is known at start and decides the label sets. */
export interface MetricsOptions {
  readonly operations: readonly Pick<Operation, 'id' | 'paging' | 'cacheability' | 'carriesPrivateFields'>[];
  /** Names of the permissions, groups and flags that a denied caller can lack. */
  readonly permissions: readonly string[];
  readonly mode: ModeName;
  /** The global levels, before any operation's own. */
  readonly checks: Checks;
  readonly version: string;
  readonly contractVersion: string;
  /** Upper bounds of all histograms in seconds, in place of their own. */
  readonly buckets?: readonly number[];
  /** How many series there may be before operations are counted together. */
  readonly maxSeries?: number;
}

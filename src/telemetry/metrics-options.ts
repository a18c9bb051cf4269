import type { Checks, ModeName } from '../model/checks.ts';
import type { Operation } from '../model/operation.ts';

/** What is known at start and decides the label sets. */
export interface MetricsOptions {
  readonly operations: readonly Pick<Operation, 'id' | 'paging' | 'cacheability' | 'carriesPrivateFields'>[];
  readonly mode: ModeName;
  /** The global levels, before any operation's own. */
  readonly checks: Checks;
  readonly version: string;
  readonly contractVersion: string;
  /** Upper bounds of the histograms in seconds. */
  readonly buckets?: readonly number[];
}

import type { CheckName, Checks } from '../model/checks.ts';

/** The levels of one operation, as they are written down and as they hold now. */
export interface OperationLevels {
  readonly operation: string;
  readonly configured: Checks;
  readonly effective: Checks;
  /** The checks whose level is written down for this very operation. */
  readonly explicit: readonly CheckName[];
}

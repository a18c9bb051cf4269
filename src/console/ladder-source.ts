import type { CheckLevel, CheckName } from '../model/checks.ts';

/** One check of one operation on its way from off over report to enforce. */
export interface LadderView {
  readonly operation: string;
  readonly check: CheckName;
  readonly configured: CheckLevel;
  /** What holds now: below the configured level after a demotion, above it after a promotion. */
  readonly effective: CheckLevel;
  /** Requests that the check judged without a finding, in the window. */
  readonly clean: number;
  /** Requests that it reported, and would have refused, or did refuse. */
  readonly wouldHaveRefused: number;
  /** What could be done next, in plain words. */
  readonly next: string;
  /** Set where the level was lowered by itself: epoch milliseconds, and why. */
  readonly demoted: { readonly at: number; readonly reason: string } | undefined;
}

/** The ladder as the console reads it. */
export interface LadderSource {
  readonly windowHours: number;
  rows(): Promise<readonly LadderView[]> | readonly LadderView[];
  /** Puts the configured level back; false where the check was not demoted. Undefined where nothing can be lifted. */
  readonly lift: ((operation: string, check: CheckName) => boolean | Promise<boolean>) | undefined;
}

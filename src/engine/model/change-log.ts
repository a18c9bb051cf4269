import type { AcceptedViolation } from './ledger-entry.ts';

/**
 * A change that every gateway in front of the same upstream has to apply to its own state. A change contains neither
 * secrets nor data about callers, because it is stored outside the process.
 */
export type SharedChange =
  /** The stored pages and page counts that have any of the tags are no longer valid. `all` invalidates all of them. */
  | { readonly kind: 'purge'; readonly tags: readonly string[] | 'all' }
  /** The operation's responses depend on the caller. */
  | { readonly kind: 'demote'; readonly operation: string }
  /** All of a caller's credentials must be verified again. `caller` is a keyed hash of the caller's name. */
  | { readonly kind: 'forget'; readonly caller: string }
  /** A document shared by the gateways has changed and must be read again. */
  | { readonly kind: 'reread'; readonly document: string }
  /**
   * A caller stays with one of two upstreams for as long as the decision with this number holds. `caller` is a keyed hash
   * of the caller's name, and `side` is the name of the upstream.
   */
  | { readonly kind: 'side'; readonly caller: string; readonly side: string; readonly decision: number }
  | BaselineChange;

/** A change to the baseline. An operator has used the console to accept a violation or to withdraw its acceptance. */
export interface BaselineChange {
  readonly kind: 'baseline';
  readonly fingerprint: string;
  /** The new baseline entry. Null if the acceptance was withdrawn. */
  readonly accepted: AcceptedViolation | null;
  /** The time of the change, in epoch milliseconds. */
  readonly at: number;
}

/**
 * A position in the log. Numbers can be compared only within a lineage, which is a part of the log without gaps. A
 * new lineage begins when changes may have been lost.
 */
export interface LogPosition {
  readonly lineage: string;
  readonly number: number;
}

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

/** Receives changes in the order of the log. */
export interface ChangeListener {
  /**
   * Applies a change. `own` is true if this process appended the change and has therefore already applied it. This
   * function also receives changes that were appended before the process started. Returns the number of removed pages,
   * if known.
   */
  apply(change: SharedChange, number: number, own: boolean): number | void;
  /** Called when changes may have been lost. From then on, data stored earlier must not be served. */
  reset(position: LogPosition): void;
}

/** The log of changes, which all gateways in a fleet apply in the same order. */
export interface ChangeLog {
  /**
   * Appends a change, which the caller must already have applied. Resolves when other gateways can read the change or,
   * if the log is unavailable, when the change has been queued. Never rejects. Returns the number of pages that the
   * other gateways removed, if known.
   */
  append(change: SharedChange): Promise<number | void>;
  /** The position of the latest change that this process has applied. Undefined until the log is first read. */
  position(): LogPosition | undefined;
  /** The time, in epoch milliseconds, up to which this process is known to have applied all changes. */
  syncedAt(): number;
  close(): Promise<void>;
}

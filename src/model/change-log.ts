import type { AcceptedViolation } from './ledger-entry.ts';

/**
 * A change that every gateway in front of the same upstream has to apply to its own memory. It contains no secrets
 * and no data about callers, because it is stored outside the process.
 */
export type SharedChange =
  /** Stored pages and page counts with any of the tags, or all of them, are no longer valid. */
  | { readonly kind: 'purge'; readonly tags: readonly string[] | 'all' }
  /** The responses of the operation depend on the caller. */
  | { readonly kind: 'demote'; readonly operation: string }
  /** The verified credentials of a caller must be verified again. `caller` is a keyed hash of the name. */
  | { readonly kind: 'forget'; readonly caller: string }
  /** A document that the gateways share has changed and must be read again. */
  | { readonly kind: 'reread'; readonly document: string }
  | BaselineChange;

/** An operator has accepted a violation in the console, or withdrawn an acceptance. */
export interface BaselineChange {
  readonly kind: 'baseline';
  readonly fingerprint: string;
  /** The new entry of the baseline. Null if the acceptance was withdrawn. */
  readonly accepted: AcceptedViolation | null;
  /** The time of the change, in epoch milliseconds. */
  readonly at: number;
}

/**
 * A position in the log. Numbers are comparable only within a lineage; the lineage changes when the log may have lost
 * changes.
 */
export interface LogPosition {
  readonly lineage: string;
  readonly number: number;
}

/** Receives the changes in the order of the log. */
export interface ChangeListener {
  /**
   * Applies a change. `own` is true if this process appended the change and has therefore already applied it. This
   * function is also called for changes that were appended before the process started. Returns the number of removed
   * pages, if it is known.
   */
  apply(change: SharedChange, number: number, own: boolean): number | void;
  /** Called when changes may have been lost. Nothing that was stored before may be served any longer. */
  reset(position: LogPosition): void;
}

/** The log of the changes that all gateways of a fleet apply in the same order. */
export interface ChangeLog {
  /**
   * Appends a change. The caller must already have applied it. Resolves when the other gateways can read it, or when it
   * has been queued because the log is unavailable. Never rejects. Returns the number of pages that the other gateways
   * removed, if it is known.
   */
  append(change: SharedChange): Promise<number | void>;
  /** The position of the latest change that this process has applied. Undefined until the log was first read. */
  position(): LogPosition | undefined;
  /** The latest time up to which all changes are known to have been applied here, in epoch milliseconds. */
  syncedAt(): number;
  close(): Promise<void>;
}

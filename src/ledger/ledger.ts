import type { LedgerReader } from '../model/ledger-snapshot.ts';
import type { Trace } from '../model/trace.ts';

/** Keeps violations, deduplicated, and counts the traffic they were seen in. */
export interface Ledger extends LedgerReader {
  /** Connects it with the store that is configured; until then everything stays in memory. */
  open(): Promise<void>;
  /** Takes in a finished request; touches memory only. */
  record(trace: Trace): void;
  /** Number of distinct violations. */
  size(): number;
  /** Distinct violations and pieces of writing that this process has lost, because something was full or failed. */
  dropped(): number;
  /** Resolves when everything recorded so far was handed to the store, written or counted as dropped. */
  flush(): Promise<void>;
  /** Writes the rest and lets go of the store. */
  close(): Promise<void>;
}

import type { FeedEvent, NewEvent } from './event.ts';
import type { Soon } from '../../engine/sharing/sharing.ts';

/** A stored document, such as the state of a list. */
export interface StoredDocument {
  readonly text: string;
  /** Grows with each change of the document. */
  readonly revision: number;
}

/** A change of a document, and the events that follow from it. Both are stored, or neither is. */
export interface Commit {
  readonly document: string;
  /** The revision that the change was made from; 0 if there was no document. */
  readonly revision: number;
  readonly text: string;
  readonly events: readonly NewEvent[];
  /** The time of the events, in epoch milliseconds. */
  readonly at: number;
}

/** The numbers of the stored events. Events with lower numbers have been removed. */
export interface StoredRange {
  /** The number of the latest event that was removed, 0 if none was. */
  readonly removed: number;
  /** The number of the latest event, 0 if there was none. */
  readonly last: number;
}

/** The limits on what is stored. */
export interface StoreLimits {
  readonly maxEvents: number;
  readonly retentionMs: number;
}

/**
 * Where events are stored, together with the state from which they follow. Only one gateway writes at a time; should a
 * second one try, its change is refused, because it was made from an earlier revision. Functions reject if the store
 * cannot be reached.
 */
export interface FeedStore {
  /** Identifies the store: 8 hexadecimal digits. Another one means that all data was lost. */
  lineage(): Soon<string>;
  read(document: string): Soon<StoredDocument | undefined>;
  /** Returns false, and stores nothing, if the document has another revision. */
  commit(change: Commit): Soon<boolean>;
  /** Returns events with higher numbers, the lowest first. */
  after(number: number, max: number): Soon<readonly FeedEvent[]>;
  /** Returns the latest events from a source, the latest first. */
  latest(source: string, max: number): Soon<readonly FeedEvent[]>;
  range(): Soon<StoredRange>;
  /** Calls the listener when there may be new events. Some are not told of. */
  onEvents(listener: () => void): void;
  close(): void;
}

/** The error for a store that cannot be opened. */
export class FeedStoreError extends Error {
  override readonly name = 'FeedStoreError';
}

/** The listeners for new events. */
export function createListeners() {
  const listeners = new Set<() => void>();
  return {
    add: (listener: () => void) => void listeners.add(listener),
    tell: () => listeners.forEach((listener) => listener()),
  };
}

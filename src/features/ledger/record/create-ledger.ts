import { createHmac } from 'node:crypto';
import { boundedMemo } from '../../../lib/bounded-maps.ts';
import type { RecordParts, Records } from '../../../engine/feature.ts';
import { distinctPlace } from '../../../lib/distinct-count.ts';
import { LedgerUnavailable } from '../../../engine/model/ledger-entry.ts';
import type { FieldPresence } from '../../../engine/model/release-statistics.ts';
import type { Trace } from '../../../engine/model/trace.ts';
import type { Violation } from '../../../engine/model/violation.ts';
import type { OpenedStore } from '../ledger-store.ts';
import { type LedgerBatch, countRows, type TrafficDelta } from '../ledger-batch.ts';
import { createShownText } from '../../../engine/privacy/shown-text.ts';
import { createReleaseCounts } from './release-counts.ts';
import { createPendingEntries, createTrafficCounts, entryFactsOf } from './pending-counts.ts';

/** The dependencies of a ledger. */
export interface LedgerParts extends RecordParts {
  /** The store that is used until `open` is called. If `open` is never called, this store remains in use. */
  readonly inMemory: OpenedStore;
  /** Opens the configured store. Undefined if the ledger is configured to use only memory. */
  readonly openStore?: (() => Promise<OpenedStore>) | undefined;
  /**
   * Called when writing fails, once per outage. If the error is `LedgerUnavailable`, nothing is lost yet, because the
   * batch will be written later.
   */
  readonly onLost?: ((error: unknown) => void) | undefined;
}

/**
 * How long recorded data waits before it is passed to the store, in milliseconds. If the process crashes, only the data
 * recorded during this time is lost.
 */
const WRITE_AFTER_MS = 500;

/** The maximum number of fingerprints to remember. They are needed only so that `size` can include new violations. */
const MAX_KNOWN = 100_000;

/**
 * Creates a ledger. Recording a request only updates data in memory. This data is written in batches, one at a time.
 */
export function createLedger(parts: LedgerParts): Ledger {
  const { clock, kindOf } = parts;
  let { release } = parts;
  let traffic = createTrafficCounts(parts.operations);
  const statistics = createReleaseCounts();
  /** Traffic rows that have not been written yet and belong to earlier sets of operations. */
  let earlierTraffic: TrafficDelta[] = [];
  const pending = { request: createPendingEntries(), response: createPendingEntries() };
  const described = createShownText();
  let opened = parts.inMemory;
  let { callerKey } = opened;
  let callerPlaces = createCallerPlaces(callerKey);
  let batches = 0;
  /** The batch that is being written. */
  let inWriting: LedgerBatch | undefined;
  /** The batch that could not be written because the store is unavailable. */
  let unwritten: LedgerBatch | undefined;
  let entries = 0;
  const known = new Set<string>();
  let dropped = 0;
  let unsavedDrops = 0;
  let failing = false;
  let dirty = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let opening: Promise<void> | undefined;

  const remember = (fingerprints: readonly string[]) => {
    if (known.size > MAX_KNOWN) known.clear();
    for (const fingerprint of fingerprints) known.add(fingerprint);
  };
  const isNew = (fingerprint: string) => !known.has(fingerprint);
  const countLost = (count: number) => {
    dropped += count;
    unsavedDrops += count;
  };
  const add = (trace: Trace, violation: Violation, counted: Set<string>) => {
    const kind = kindOf(trace.operation, trace.upstream?.status, violation);
    // Each violation is counted at most once per request, so that counts can be compared with the number of requests.
    if (counted.has(kind.fingerprint)) return;
    counted.add(kind.fingerprint);
    const sample = { requestId: trace.requestId, seenAt: trace.startedAt, found: described(violation.found) };
    // Background work has no caller. The exception is a comparison, which is attributed to the client whose request is
    // compared.
    const hasCaller = trace.background !== true || trace.comparison === true;
    const caller = hasCaller ? callerPlaces(trace.caller) : undefined;
    const facts = () => entryFactsOf(trace.operation, kind, violation);
    if (!pending[violation.direction].add(kind.fingerprint, facts, { sample, caller })) countLost(1);
  };
  const take = (): LedgerBatch => {
    const batch = {
      number: (batches += 1),
      writtenAt: clock(),
      release,
      entries: [...pending.request.take(), ...pending.response.take()],
      traffic: [...earlierTraffic, ...traffic.take()],
      statistics: statistics.take(),
      dropped: unsavedDrops,
    };
    unsavedDrops = 0;
    earlierTraffic = [];
    dirty = false;
    return batch;
  };
  const useCallerKey = (key: string) => {
    if (key === callerKey) return;
    callerKey = key;
    callerPlaces = createCallerPlaces(key);
  };
  const write = async () => {
    const batch = (inWriting = unwritten ?? take());
    try {
      const state = await opened.store.write(batch);
      unwritten = undefined;
      if (state.callerKey !== undefined) useCallerKey(state.callerKey);
      entries = state.entries;
      remember(batch.entries.map(({ facts }) => facts.fingerprint));
      dropped += state.dropped;
      failing = false;
    } catch (error) {
      if (!failing) parts.onLost?.(error);
      failing = true;
      // Until the batch is written, new data is added to the pending counts, which are limited in size.
      if (error instanceof LedgerUnavailable && !closed) unwritten = batch;
      else {
        unwritten = undefined;
        unsavedDrops += batch.dropped;
        countLost(countRows(batch));
      }
    } finally {
      inWriting = undefined;
    }
  };
  const flush = async (): Promise<void> => {
    if (writing !== undefined) {
      await writing;
      return flush();
    }
    if (!dirty && unwritten === undefined) return;
    const isSecondAttempt = unwritten !== undefined;
    writing = write().finally(() => {
      writing = undefined;
    });
    await writing;
    if (unwritten !== undefined) arm();
    else if (isSecondAttempt) await flush();
  };
  const arm = () => {
    if (closed || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      void flush();
    }, WRITE_AFTER_MS).unref();
  };

  const open = async () => {
    if (parts.openStore === undefined) return;
    const before = opened.store;
    opened = await parts.openStore();
    if (opened.store !== before) await before.close();
    useCallerKey(opened.callerKey);
    entries = opened.fingerprints.length;
    remember(opened.fingerprints);
  };

  return {
    open: () => (opening ??= open()),
    record(trace) {
      traffic.count(trace);
      statistics.count(trace);
      dirty = true;
      arm();
      if (trace.violations.length === 0 && trace.incidents === undefined) return;
      const counted = new Set<string>();
      for (const violation of trace.violations) add(trace, violation, counted);
      for (const incident of trace.incidents ?? []) add(trace, incident, counted);
    },
    recordFields(operation, presence) {
      statistics.countFields(operation, presence);
      dirty = true;
      arm();
    },
    async snapshot(query = {}) {
      await flush();
      return opened.store.read(query, clock());
    },
    size() {
      const waiting = (inWriting ?? unwritten)?.entries.map(({ facts }) => facts.fingerprint) ?? [];
      const found = new Set([...pending.request.keys(), ...pending.response.keys(), ...waiting]);
      return entries + [...found].filter(isNew).length;
    },
    dropped: () => dropped,
    flush,
    configure(next) {
      ({ release } = next);
      earlierTraffic.push(...traffic.take());
      traffic = createTrafficCounts(next.operations);
    },
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(timer);
      // A store that is lost on closing may not have started its thread yet.
      await (opened.isLasting ? flush() : writing);
      await opened.store.close();
    },
  };
}

/** Stores distinct violations and counts the traffic in which they occurred. */
export interface Ledger extends Records {
  /** Records which fields a sampled response to a documented operation has. */
  recordFields(operation: string, presence: FieldPresence): void;
  /** Returns the number of distinct violations. */
  size(): number;
  /**
   * Returns the number of violations and traffic rows that this process has lost because of limits or failed writes.
   */
  dropped(): number;
  /**
   * Switches to a new release label and a new set of operations. Call `flush` first, so that unwritten data is not
   * counted under the new label.
   */
  configure(next: Pick<LedgerParts, 'release' | 'operations'>): void;
  /** Writes the remaining data if it would outlive the store, then closes the store. */
  close(): Promise<void>;
}

/**
 * Returns a caller's position in the bitmap that counts distinct callers. All callers without a name share one
 * position.
 */
type CallerPlaces = (caller: string | undefined) => number;

const MAX_REMEMBERED = 10_000;

/** Derives the positions from keyed hashes. Without the key, a position reveals nothing about a name. */
function createCallerPlaces(key: string): CallerPlaces {
  return boundedMemo(MAX_REMEMBERED, (caller) =>
    distinctPlace(hashOf(key, caller === undefined ? 'anonymous' : `name ${caller}`)),
  );
}

function hashOf(key: string, text: string): number {
  return createHmac('sha256', key).update(text).digest().readUInt32BE(0);
}

import { createHmac } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { distinctPlace } from '../../lib/distinct-count.ts';
import type { LedgerReader } from '../../model/ledger-snapshot.ts';
import type { Trace } from '../../model/trace.ts';
import type { Violation } from '../../model/violation.ts';
import { type LedgerBatch, piecesOf } from '../ledger-batch.ts';
import type { OpenedStore } from '../ledger-store.ts';
import type { KindOf } from './fingerprint.ts';
import { createShownText } from '../../privacy/shown-text.ts';
import { createPendingEntries, entryFactsOf } from './pending-entries.ts';
import { createTrafficCounts } from './traffic-counts.ts';

/** What a ledger is made of. */
export interface LedgerParts {
  readonly clock: Clock;
  readonly kindOf: KindOf;
  /** Ids of the contract's operations. */
  readonly operations: readonly string[];
  /** The label that everything is counted under. */
  readonly release: string;
  /** Holds what is recorded before, or without, a call of `open`. */
  readonly inMemory: OpenedStore;
  /** Opens the store that is configured; undefined where that is the one in memory. */
  readonly openStore?: (() => Promise<OpenedStore>) | undefined;
  /** Hears of writing that failed, once until writing works again. */
  readonly onLost?: ((error: unknown) => void) | undefined;
}

/** Milliseconds after which what was recorded is handed to the store: a crash loses no more. */
const WRITE_AFTER_MS = 500;

/** Fingerprints that are remembered to tell new violations from known ones, which only `size` asks for. */
const MAX_KNOWN = 100_000;

/** Creates a ledger. Requests only add to what is pending; one batch at a time is on its way to the store. */
export function createLedger(parts: LedgerParts): Ledger {
  const { clock, kindOf, release } = parts;
  const traffic = createTrafficCounts(parts.operations);
  const pending = { request: createPendingEntries(), response: createPendingEntries() };
  const described = createShownText();
  let opened = parts.inMemory;
  let callerPlaces = createCallerPlaces(opened.callerKey);
  let entries = 0;
  const known = new Set<string>();
  let dropped = 0;
  let untold = 0;
  let failing = false;
  let dirty = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  const remember = (fingerprints: readonly string[]) => {
    if (known.size > MAX_KNOWN) known.clear();
    for (const fingerprint of fingerprints) known.add(fingerprint);
  };
  const isNew = (fingerprint: string) => !known.has(fingerprint);
  const lose = (count: number) => {
    dropped += count;
    untold += count;
  };
  const add = (trace: Trace, violation: Violation, counted: Set<string>) => {
    const kind = kindOf(trace.operation, trace.upstream?.status, violation);
    // A share of the traffic is a share of its requests, however often one of them breaks a rule.
    if (counted.has(kind.fingerprint)) return;
    counted.add(kind.fingerprint);
    const sample = { requestId: trace.requestId, seenAt: trace.startedAt, found: described(violation.found) };
    // A candidate judges afterwards what somebody asked for.
    const asked = trace.background !== true || violation.candidate !== undefined;
    const caller = asked ? callerPlaces(trace.caller) : undefined;
    const facts = () => entryFactsOf(trace.operation, kind, violation);
    if (!pending[violation.direction].add(kind.fingerprint, facts, { sample, caller })) lose(1);
  };
  const take = (): LedgerBatch => {
    const batch = {
      writtenAt: clock(),
      release,
      entries: [...pending.request.take(), ...pending.response.take()],
      traffic: traffic.take(),
      dropped: untold,
    };
    untold = 0;
    dirty = false;
    return batch;
  };
  const write = async () => {
    const batch = take();
    try {
      const state = await opened.store.write(batch);
      entries = state.entries;
      remember(batch.entries.map(({ facts }) => facts.fingerprint));
      dropped += state.dropped;
      failing = false;
    } catch (error) {
      untold += batch.dropped;
      lose(piecesOf(batch));
      if (!failing) parts.onLost?.(error);
      failing = true;
    }
  };
  const flush = async (): Promise<void> => {
    if (writing !== undefined) {
      await writing;
      return flush();
    }
    if (!dirty) return;
    writing = write().finally(() => {
      writing = undefined;
    });
    await writing;
  };
  const arm = () => {
    timer = setTimeout(() => {
      timer = undefined;
      void flush();
    }, WRITE_AFTER_MS).unref();
  };

  return {
    async open() {
      if (parts.openStore === undefined) return;
      opened = await parts.openStore();
      callerPlaces = createCallerPlaces(opened.callerKey);
      entries = opened.fingerprints.length;
      remember(opened.fingerprints);
    },
    record(trace) {
      traffic.count(trace);
      dirty = true;
      if (timer === undefined && !closed) arm();
      if (trace.violations.length === 0) return;
      const counted = new Set<string>();
      for (const violation of trace.violations) add(trace, violation, counted);
    },
    async snapshot(query = {}) {
      await flush();
      return opened.store.read(query, clock());
    },
    size: () => entries + [...pending.request.keys(), ...pending.response.keys()].filter(isNew).length,
    dropped: () => dropped,
    flush,
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(timer);
      await flush();
      await opened.store.close();
    },
  };
}

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

/** Gives each caller its place in the bitmap that distinct callers are counted in; everybody without a name shares one. */
export type CallerPlaces = (caller: string | undefined) => number;

const MAX_REMEMBERED = 10_000;

/** Creates the places under a key: without it, they tell nothing about the names. */
export function createCallerPlaces(key: string): CallerPlaces {
  const places = new Map<string, number>();
  const nobody = distinctPlace(hashOf(key, 'anonymous'));
  return (caller) => {
    if (caller === undefined) return nobody;
    const known = places.get(caller);
    if (known !== undefined) return known;
    const place = distinctPlace(hashOf(key, `name ${caller}`));
    if (places.size >= MAX_REMEMBERED) places.clear();
    places.set(caller, place);
    return place;
  };
}

function hashOf(key: string, text: string): number {
  return createHmac('sha256', key).update(text).digest().readUInt32BE(0);
}

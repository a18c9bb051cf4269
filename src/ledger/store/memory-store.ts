import { randomBytes } from 'node:crypto';
import { hourOf } from '../../lib/clock.ts';
import { DISTINCT_BYTES, estimateDistinct, markDistinct } from '../../lib/distinct-count.ts';
import type { LedgerEntry, LedgerSample } from '../../model/ledger-entry.ts';
import { type EntryDelta, type EntryFacts, type LedgerBatch, MAX_SAMPLES } from '../ledger-batch.ts';
import { forgottenBefore, type LedgerStore, type OpenedStore, operationOf, type StoreLimits } from '../ledger-store.ts';
import { createHourlyCounts, type HourlyCounts } from './hourly-counts.ts';
import { createMemoryTraffic } from './memory-traffic.ts';

interface Kept {
  readonly facts: EntryDelta['facts'];
  firstSeenAt: number;
  lastSeenAt: number;
  samples: readonly LedgerSample[];
  readonly callers: Uint8Array;
  readonly counts: HourlyCounts;
}

/** Opens a store that ends with the process. */
export function openMemoryStore(limits: StoreLimits): OpenedStore {
  return { store: createMemoryStore(limits), fingerprints: [], callerKey: randomBytes(32).toString('hex') };
}

/**
 * Creates a store in memory. Each direction has a share of its own; when that is full, what there is most of loses its
 * least recently seen entries: callers who invent parameter names push out other inventions and nothing else.
 */
export function createMemoryStore({ maxEntries, retentionDays }: StoreLimits): LedgerStore {
  const share = Math.max(1, Math.floor(maxEntries / 2));
  const shares = { request: new Map<string, Kept>(), response: new Map<string, Kept>() };
  const traffic = createMemoryTraffic();
  const releases = new Map<string, number>();
  let dropped = 0;

  const take = (delta: EntryDelta, release: string) => {
    const kept = shares[delta.facts.direction];
    const { fingerprint } = delta.facts;
    const entry = kept.get(fingerprint) ?? keptOf(delta);
    merge(entry, delta, release);
    // Taken out and put in again: a Map keeps the order of insertion, so the first is the least recently seen.
    kept.delete(fingerprint);
    kept.set(fingerprint, entry);
  };
  const makeRoom = (kept: Map<string, Kept>): number => {
    const gone = tooMany(kept, share);
    for (const fingerprint of gone) kept.delete(fingerprint);
    return gone.length;
  };
  const forget = (before: number) => {
    for (const kept of Object.values(shares))
      for (const [fingerprint, entry] of kept) {
        if (entry.lastSeenAt < before) kept.delete(fingerprint);
        else entry.counts.forget(hourOf(before));
      }
    traffic.forget(hourOf(before));
    for (const [release, seenAt] of releases) if (seenAt < before) releases.delete(release);
  };
  const write = (batch: LedgerBatch) => {
    for (const delta of batch.entries) take(delta, batch.release);
    for (const delta of batch.traffic) traffic.add(batch.release, delta);
    // Put in again, so that the latest is the last.
    releases.delete(batch.release);
    releases.set(batch.release, batch.writtenAt);
    const gone = makeRoom(shares.request) + makeRoom(shares.response);
    dropped += gone + batch.dropped;
    forget(forgottenBefore(batch.writtenAt, retentionDays));
    return { entries: shares.request.size + shares.response.size, dropped: gone };
  };
  const read: LedgerStore['read'] = async ({ since, release, operation }, takenAt) => {
    const sinceHour = since === undefined ? 0 : hourOf(since);
    const wanted = (id: string | undefined) => operation === undefined || id === operationOf(operation);
    const entries = [...shares.request.values(), ...shares.response.values()].filter(({ facts }) =>
      wanted(facts.operation),
    );
    const inPeriod = new Set([
      ...traffic.sums(sinceHour, undefined).map((row) => row.release),
      ...[...shares.request.values(), ...shares.response.values()].flatMap(({ counts }) =>
        Object.keys(counts.sums(sinceHour, undefined)),
      ),
    ]);
    return Promise.resolve({
      takenAt,
      since,
      releases: [...releases.keys()].filter((label) => inPeriod.has(label)),
      entries: entries
        .map((entry) => entryOf(entry, entry.counts.sums(sinceHour, release)))
        .filter(({ count }) => count > 0)
        .sort((a, b) => b.lastSeenAt - a.lastSeenAt),
      traffic: traffic.sums(sinceHour, release).filter((row) => wanted(row.operation)),
      dropped,
    });
  };
  return { write: async (batch) => Promise.resolve(write(batch)), read, close: () => Promise.resolve() };
}

function keptOf({ facts, firstSeenAt, lastSeenAt }: EntryDelta): Kept {
  const callers = new Uint8Array(DISTINCT_BYTES);
  return { facts, firstSeenAt, lastSeenAt, samples: [], callers, counts: createHourlyCounts() };
}

function merge(entry: Kept, delta: EntryDelta, release: string): void {
  entry.firstSeenAt = Math.min(entry.firstSeenAt, delta.firstSeenAt);
  entry.lastSeenAt = Math.max(entry.lastSeenAt, delta.lastSeenAt);
  entry.samples = [...entry.samples, ...delta.samples].slice(-MAX_SAMPLES);
  markDistinct(entry.callers, delta.callers);
  for (const [hour, count] of delta.hours) entry.counts.add(release, hour, count);
}

function entryOf(
  { facts, firstSeenAt, lastSeenAt, samples, callers }: Kept,
  sums: Record<string, number>,
): LedgerEntry {
  return structuredClone({
    ...facts,
    count: Object.values(sums).reduce((sum, count) => sum + count, 0),
    firstSeenAt,
    lastSeenAt,
    callers: estimateDistinct(callers),
    releases: sums,
    samples,
  });
}

interface Kind {
  readonly facts: Pick<EntryFacts, 'operation' | 'keyword'>;
}

/**
 * Fingerprints of the entries to forget so that no more than `share` stay, the entries given with the most recently seen
 * last. An entry's place among its like (operation and rule) decides, then its age: of what there is much, much is taken.
 */
export function tooMany(entries: ReadonlyMap<string, Kind>, share: number): readonly string[] {
  if (entries.size <= share) return [];
  const sizes = new Map<string, number>();
  const placed = [...entries].reverse().map(([fingerprint, { facts }], age) => {
    const like = `${facts.operation ?? ''} ${facts.keyword}`;
    const place = (sizes.get(like) ?? 0) + 1;
    sizes.set(like, place);
    return { fingerprint, place, age };
  });
  placed.sort((a, b) => b.place - a.place || b.age - a.age);
  return placed.slice(0, entries.size - share).map(({ fingerprint }) => fingerprint);
}

import { randomBytes } from 'node:crypto';
import { hourOf } from '../../../lib/clock.ts';
import { DISTINCT_BYTES, estimateDistinct, markDistinct } from '../../../lib/distinct-count.ts';
import { JUDGED_NAMES } from '../../../engine/model/checks.ts';
import {
  type LedgerEntry,
  type LedgerSample,
  type OperationTraffic,
  type EntryHistory,
  HISTORY_HOURS,
  checksOf,
  operationOf,
} from '../../../engine/model/ledger-entry.ts';
import { type ReleaseStatistics, STORED_RELEASES } from '../../../engine/model/release-statistics.ts';
import { type LedgerStore, type OpenedStore, retentionStart, type StoreLimits } from '../ledger-store.ts';
import { type EntryDelta, type EntryFacts, type LedgerBatch, MAX_SAMPLES, type TrafficDelta } from '../ledger-batch.ts';

interface StoredEntry {
  facts: EntryDelta['facts'];
  firstSeenAt: number;
  lastSeenAt: number;
  samples: readonly LedgerSample[];
  readonly callers: Uint8Array;
  readonly counts: HourlyCounts;
}

/** Opens a store in memory. The data is lost when the process ends. */
export function openMemoryStore(limits: StoreLimits): OpenedStore {
  return { store: createMemoryStore(limits), fingerprints: [], callerKey: randomBytes(32).toString('hex') };
}

/**
 * Creates a store in memory. Requests and responses each have their own share of the limit. When a share is full,
 * entries are removed from the rule that has the most entries, starting with the least recently seen ones. Made-up
 * parameter names therefore displace only other made-up names.
 */
export function createMemoryStore({ maxEntries, retentionDays }: StoreLimits): LedgerStore {
  const share = Math.max(1, Math.floor(maxEntries / 2));
  const shares = { request: new Map<string, StoredEntry>(), response: new Map<string, StoredEntry>() };
  const traffic = createMemoryTraffic();
  const statistics = createMemoryStatistics();
  // The labels of all releases since startup, in the order in which they were last seen.
  const releases = new Set<string>();
  let dropped = 0;

  const add = (delta: EntryDelta, release: string) => {
    const stored = shares[delta.facts.direction];
    const { fingerprint } = delta.facts;
    const entry = stored.get(fingerprint) ?? emptyEntry(delta);
    entry.facts = delta.facts;
    merge(entry, delta, release);
    // The entry is deleted and inserted again to keep the map ordered by last occurrence.
    stored.delete(fingerprint);
    stored.set(fingerprint, entry);
  };
  const makeRoom = (stored: Map<string, StoredEntry>): number => {
    const removed = entriesToEvict(stored, share);
    for (const fingerprint of removed) stored.delete(fingerprint);
    return removed.length;
  };
  let tidiedHour = 0;
  const forget = (before: number) => {
    for (const stored of Object.values(shares))
      for (const [fingerprint, entry] of stored) {
        if (entry.lastSeenAt < before) stored.delete(fingerprint);
        else entry.counts.forget(hourOf(before));
      }
    traffic.forget(hourOf(before));
  };
  const write = (batch: LedgerBatch) => {
    for (const delta of batch.entries) add(delta, batch.release);
    for (const delta of batch.traffic) traffic.add(batch.release, delta);
    // The release is deleted and added again so that the latest release is last.
    releases.delete(batch.release);
    releases.add(batch.release);
    statistics.add(batch.release, batch.statistics);
    const removed = makeRoom(shares.request) + makeRoom(shares.response);
    dropped += removed + batch.dropped;
    // All entries are searched, so this is done only once per hour.
    if (hourOf(batch.writtenAt) !== tidiedHour) forget(retentionStart(batch.writtenAt, retentionDays));
    tidiedHour = hourOf(batch.writtenAt);
    return { entries: shares.request.size + shares.response.size, dropped: removed };
  };
  const read: LedgerStore['read'] = async ({ since, release, operation, history = false }, takenAt) => {
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
      releases: [...releases].filter((label) => inPeriod.has(label)),
      entries: entries
        .map((entry) => {
          const found = entryOf(entry, entry.counts.sums(sinceHour, release));
          return history ? Object.assign(found, { history: entry.counts.history(hourOf(takenAt)) }) : found;
        })
        .filter(({ count }) => count > 0)
        .sort((a, b) => b.lastSeenAt - a.lastSeenAt),
      traffic: traffic.sums(sinceHour, release).filter((row) => wanted(row.operation)),
      statistics: statistics.rows().filter((row) => wanted(row.operation)),
      dropped,
    });
  };
  return { write: async (batch) => Promise.resolve(write(batch)), read, close: () => Promise.resolve() };
}

function emptyEntry({ facts, firstSeenAt, lastSeenAt }: EntryDelta): StoredEntry {
  const callers = new Uint8Array(DISTINCT_BYTES);
  return { facts, firstSeenAt, lastSeenAt, samples: [], callers, counts: createHourlyCounts() };
}

function merge(entry: StoredEntry, delta: EntryDelta, release: string): void {
  entry.firstSeenAt = Math.min(entry.firstSeenAt, delta.firstSeenAt);
  entry.lastSeenAt = Math.max(entry.lastSeenAt, delta.lastSeenAt);
  entry.samples = [...entry.samples, ...delta.samples].slice(-MAX_SAMPLES);
  markDistinct(entry.callers, delta.callers);
  for (const [hour, count] of delta.hours) entry.counts.add(release, hour, count);
}

function entryOf(
  { facts, firstSeenAt, lastSeenAt, samples, callers }: StoredEntry,
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
 * Returns the fingerprints of the entries to remove so that at most `share` entries remain. `entries` must be ordered
 * by last occurrence. Entries of the rules with the most entries are removed first, beginning with the least recently
 * seen.
 */
function entriesToEvict(entries: ReadonlyMap<string, Kind>, share: number): readonly string[] {
  if (entries.size <= share) return [];
  const sizes = new Map<string, number>();
  const placed = [...entries].reverse().map(([fingerprint, { facts }], age) => {
    const rule = `${facts.operation ?? ''} ${facts.keyword}`;
    const rank = (sizes.get(rule) ?? 0) + 1;
    sizes.set(rule, rank);
    return { fingerprint, rank, age };
  });
  placed.sort((a, b) => b.rank - a.rank || b.age - a.age);
  return placed.slice(0, entries.size - share).map(({ fingerprint }) => fingerprint);
}

/** In-memory traffic counts by operation, release and hour. */
interface MemoryTraffic {
  add(release: string, delta: TrafficDelta): void;
  sums(sinceHour: number, release: string | undefined): OperationTraffic[];
  forget(beforeHour: number): void;
}

const OUTCOMES = ['passed', 'reported', 'refused'] as const;

/** Creates empty traffic counts, with one number for each operation, check and outcome. */
function createMemoryTraffic(): MemoryTraffic {
  const operations = new Map<string | undefined, Map<string, HourlyCounts>>();
  const countsOf = (operation: string | undefined, name: string): HourlyCounts => {
    const named = operations.get(operation) ?? new Map<string, HourlyCounts>();
    operations.set(operation, named);
    const counts = named.get(name) ?? createHourlyCounts();
    named.set(name, counts);
    return counts;
  };
  return {
    add(release, { operation, hour, requests, checks }) {
      countsOf(operation, 'requests').add(release, hour, requests);
      for (const name of JUDGED_NAMES)
        for (const outcome of OUTCOMES) {
          const count = checks[name]?.[outcome] ?? 0;
          if (count > 0) countsOf(operation, `${name} ${outcome}`).add(release, hour, count);
        }
    },
    sums(sinceHour, wanted) {
      return [...operations].flatMap(([operation, named]) => {
        const sums = new Map([...named].map(([name, counts]) => [name, counts.sums(sinceHour, wanted)]));
        const releases = new Set([...sums.values()].flatMap((byRelease) => Object.keys(byRelease)));
        const count = (name: string, release: string) => sums.get(name)?.[release] ?? 0;
        return [...releases].map((release) => ({
          operation,
          release,
          requests: count('requests', release),
          checks: checksOf((name, outcome) => count(`${name} ${outcome}`, release)),
        }));
      });
    },
    forget(beforeHour) {
      for (const named of operations.values()) for (const counts of named.values()) counts.forget(beforeHour);
    },
  };
}

/** In-memory statistics of the last releases. */
function createMemoryStatistics() {
  const releases = new Map<string, Map<string, Map<string, number>>>();
  return {
    add(release: string, deltas: LedgerBatch['statistics']): void {
      const operations = releases.get(release) ?? new Map<string, Map<string, number>>();
      // The release is deleted and added again so that the latest release is last.
      releases.delete(release);
      releases.set(release, operations);
      for (const { operation, counts } of deltas) {
        const own = operations.get(operation) ?? new Map<string, number>();
        operations.set(operation, own);
        for (const [name, count] of Object.entries(counts)) own.set(name, (own.get(name) ?? 0) + count);
      }
      const [oldest] = releases.keys();
      if (releases.size > STORED_RELEASES && oldest !== undefined) releases.delete(oldest);
    },
    rows: (): ReleaseStatistics[] =>
      [...releases].flatMap(([release, operations]) =>
        [...operations].map(([operation, counts]) => ({ operation, release, counts: Object.fromEntries(counts) })),
      ),
  };
}

/** The counts, by release and hour. */
interface HourlyCounts {
  add(release: string, hour: number, count: number): void;
  /** Returns the total for each release from the given hour on. Omits releases without counts. */
  sums(sinceHour: number, release: string | undefined): Record<string, number>;
  /**
   * Returns the counts for the most recent hours, and the release with the earliest hour. `hour` is the current hour.
   */
  history(hour: number): EntryHistory;
  /** Removes the counts of all hours before the given hour. */
  forget(beforeHour: number): void;
}

/** The maximum number of hours per release in memory. Older hours are merged into the oldest stored hour. */
const MAX_HOURS = 24 * 14;

/** Creates empty counts in memory. */
function createHourlyCounts(): HourlyCounts {
  const releases = new Map<string, Map<number, number>>();
  return {
    add(release, hour, count) {
      const hours = releases.get(release) ?? new Map<number, number>();
      releases.set(release, hours);
      hours.set(hour, (hours.get(hour) ?? 0) + count);
      if (hours.size > MAX_HOURS) mergeOldest(hours);
    },
    sums(sinceHour, release) {
      const sums: Record<string, number> = {};
      for (const [label, hours] of releases) {
        if (release !== undefined && label !== release) continue;
        let sum = 0;
        for (const [hour, count] of hours) if (hour >= sinceHour) sum += count;
        if (sum > 0) sums[label] = sum;
      }
      return sums;
    },
    history(hour) {
      const recent = Array.from({ length: HISTORY_HOURS }, () => 0);
      let first: { readonly label: string; readonly hour: number } | undefined;
      for (const [label, hours] of releases)
        for (const [at, count] of hours) {
          const place = at - hour + HISTORY_HOURS - 1;
          if (place >= 0 && place < HISTORY_HOURS) recent[place] = (recent[place] ?? 0) + count;
          if (first === undefined || at < first.hour) first = { label, hour: at };
        }
      return { hours: recent, firstRelease: first?.label };
    },
    forget(beforeHour) {
      for (const [label, hours] of releases) {
        for (const hour of hours.keys()) if (hour < beforeHour) hours.delete(hour);
        if (hours.size === 0) releases.delete(label);
      }
    },
  };
}

function mergeOldest(hours: Map<number, number>): void {
  const [oldest = 0, next = 0] = [...hours.keys()].sort((a, b) => a - b);
  hours.set(oldest, (hours.get(oldest) ?? 0) + (hours.get(next) ?? 0));
  hours.delete(next);
}

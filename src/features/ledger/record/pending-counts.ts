import { HOUR_MS, hourOf } from '../../../lib/clock.ts';
import { type JudgedName, JUDGED_NAMES } from '../../../engine/model/checks.ts';
import { type LedgerSample, ruleOf } from '../../../engine/model/ledger-entry.ts';
import { type CheckVerdict, eachVerdict, type Trace } from '../../../engine/model/trace.ts';
import type { Violation } from '../../../engine/model/violation.ts';
import { shownText } from '../../../engine/privacy/shown-text.ts';
import { type EntryDelta, type EntryFacts, MAX_SAMPLES, type TrafficDelta } from '../ledger-batch.ts';
import type { ViolationKind } from '../../../engine/model/violation-kind.ts';

/** One occurrence of a violation. */
interface Occurrence {
  readonly sample: LedgerSample;
  /** The caller's position in the bitmap that counts distinct callers. Undefined for background work. */
  readonly caller: number | undefined;
}

/** The distinct violations recorded since the last batch. */
interface PendingEntries {
  /** Adds an occurrence. Returns false if the limit on distinct violations is reached. */
  add(fingerprint: string, facts: () => EntryFacts, occurrence: Occurrence): boolean;
  /** Returns the fingerprints of all pending violations. */
  keys(): Iterable<string>;
  /** Returns and removes all entries, in the order of their last occurrence. */
  take(): EntryDelta[];
}

/** The maximum number of distinct violations per direction that can be waiting to be written. */
const MAX_PENDING = 1_000;
/**
 * The fraction of the limit that a single rule for a single operation can occupy when at least half of the limit is in
 * use. Without this restriction, a caller who makes up parameter names could displace all other violations.
 */
const SHARE = 0.02;
const MAX_HOURS = 48;
const MAX_CALLERS = 2_048;

interface Pending {
  readonly facts: EntryFacts;
  firstSeenAt: number;
  lastSeenAt: number;
  readonly hours: Map<number, number>;
  readonly callers: Set<number>;
  readonly samples: LedgerSample[];
}

/** Creates an empty set of pending entries for one direction. */
export function createPendingEntries(limit = MAX_PENDING): PendingEntries {
  let entries = new Map<string, Pending>();
  let countsByRule = new Map<string, number>();
  const hasRoom = ({ operation, keyword }: EntryFacts) => {
    const rule = `${operation ?? ''} ${keyword}`;
    const count = countsByRule.get(rule) ?? 0;
    if (entries.size >= limit / 2 && count >= Math.ceil(limit * SHARE)) return false;
    countsByRule.set(rule, count + 1);
    return true;
  };
  return {
    add(fingerprint, facts, { sample, caller }) {
      const { seenAt } = sample;
      let entry = entries.get(fingerprint);
      if (entry === undefined) {
        if (entries.size >= limit) return false;
        const known = facts();
        if (!hasRoom(known)) return false;
        entry = {
          facts: known,
          firstSeenAt: seenAt,
          lastSeenAt: seenAt,
          hours: new Map(),
          callers: new Set(),
          samples: [],
        };
      } else entries.delete(fingerprint);
      // The entry is deleted and inserted again to keep the map ordered by last occurrence.
      entries.set(fingerprint, entry);
      entry.firstSeenAt = Math.min(entry.firstSeenAt, seenAt);
      entry.lastSeenAt = Math.max(entry.lastSeenAt, seenAt);
      const hour = entry.hours.size < MAX_HOURS ? hourOf(seenAt) : (entry.hours.keys().next().value ?? 0);
      entry.hours.set(hour, (entry.hours.get(hour) ?? 0) + 1);
      if (caller !== undefined && entry.callers.size < MAX_CALLERS) entry.callers.add(caller);
      if (entry.samples.at(-1)?.requestId !== sample.requestId) entry.samples.push(sample);
      if (entry.samples.length > MAX_SAMPLES) entry.samples.shift();
      return true;
    },
    keys: () => entries.keys(),
    take() {
      const taken = [...entries.values()].map(({ facts, firstSeenAt, lastSeenAt, hours, callers, samples }) => ({
        facts,
        firstSeenAt,
        lastSeenAt,
        samples,
        hours: [...hours],
        callers: [...callers],
      }));
      entries = new Map();
      countsByRule = new Map();
      return taken;
    },
  };
}

/**
 * Returns the properties of a violation that are stored in the ledger. None of these properties contains a value from a
 * message.
 */
export function entryFactsOf(operation: string | undefined, kind: ViolationKind, violation: Violation): EntryFacts {
  return {
    ...ruleOf(violation),
    fingerprint: kind.fingerprint,
    operation,
    status: kind.status,
    at: kind.at,
    message: toMessage(kind, violation),
    suggestion: shownText(violation.suggestion),
  };
}

function toMessage({ at }: ViolationKind, violation: Violation): string {
  // If text was masked in the location, the message may contain the same text and is therefore replaced.
  if (at !== violation.at && at.includes('?')) return `violates the rule ${violation.keyword}`;
  const message = violation.at === '' ? violation.message : violation.message.replaceAll(violation.at, at);
  return shownText(message) ?? `violates the rule ${violation.keyword}`;
}

/** Counts requests by operation, hour and check outcome. */
interface TrafficCounts {
  count(trace: Trace): void;
  /** Returns what has been counted since the previous call. */
  take(): TrafficDelta[];
}

const OUTCOMES = 3;
const WIDTH = 1 + JUDGED_NAMES.length * OUTCOMES;
/** The place of each check's counts in a row, after the number of requests. */
const PLACES = Object.fromEntries(JUDGED_NAMES.map((name, index) => [name, 1 + index * OUTCOMES])) as Readonly<
  Record<JudgedName, number>
>;

/** Creates empty counts. Each operation has a row of numbers, so counting a request takes only a few additions. */
export function createTrafficCounts(operations: readonly string[]): TrafficCounts {
  const ids: readonly (string | undefined)[] = [undefined, ...operations];
  const rowOf = new Map(operations.map((id, index) => [id, (index + 1) * WIDTH]));
  const hours = new Map<number, Float64Array<ArrayBuffer>>();
  let counts = new Float64Array(ids.length * WIDTH);
  let startsAt = 0;
  let endsAt = 0;

  const selectHour = (instant: number) => {
    const hour = hourOf(instant);
    startsAt = hour * HOUR_MS;
    endsAt = startsAt + HOUR_MS;
    const known = hours.get(hour) ?? (hours.size < MAX_HOURS ? undefined : hours.values().next().value);
    counts = known ?? new Float64Array(ids.length * WIDTH);
    if (known === undefined) hours.set(hour, counts);
  };
  const tally = ({ outcome }: CheckVerdict, index: number) => {
    if (outcome === 'passed') counts[index] = (counts[index] ?? 0) + 1;
    else if (outcome === 'reported') counts[index + 1] = (counts[index + 1] ?? 0) + 1;
    else if (outcome === 'refused') counts[index + 2] = (counts[index + 2] ?? 0) + 1;
  };

  return {
    count(trace) {
      if (trace.startedAt < startsAt || trace.startedAt >= endsAt) selectHour(trace.startedAt);
      const row = trace.operation === undefined ? 0 : (rowOf.get(trace.operation) ?? 0);
      // Background work does not count as a client request, but the results of its checks also say something about the
      // upstream.
      if (trace.background !== true) counts[row] = (counts[row] ?? 0) + 1;
      eachVerdict(trace, (name, verdict) => {
        if (name !== 'responses' || mayBeRefused(trace)) tally(verdict, row + PLACES[name]);
      });
    },
    take() {
      const deltas = [...hours].flatMap(([hour, rows]) =>
        ids.flatMap((operation, index) => {
          const row = rows.subarray(index * WIDTH, (index + 1) * WIDTH);
          return row.some((count) => count !== 0)
            ? [{ operation, hour, requests: row[0] ?? 0, checks: checksOf(row) }]
            : [];
        }),
      );
      hours.clear();
      startsAt = endsAt = 0;
      return deltas;
    },
  };
}

/**
 * Returns whether a response could have been refused. Error responses are never refused, so counting them would distort
 * the numbers on which the ladder bases promotions.
 */
function mayBeRefused({ upstream }: Trace): boolean {
  const status = upstream?.status;
  return status === undefined || (status >= 200 && status < 300);
}

function checksOf(row: Float64Array): TrafficDelta['checks'] {
  const named = JUDGED_NAMES.map((name, index) => {
    const [passed = 0, reported = 0, refused = 0] = row.subarray(1 + index * OUTCOMES, 1 + (index + 1) * OUTCOMES);
    return [name, { passed, reported, refused }] as const;
  });
  return Object.fromEntries(named.filter(([, { passed, reported, refused }]) => passed + reported + refused > 0));
}

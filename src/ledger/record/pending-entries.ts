import { hourOf } from '../../lib/clock.ts';
import type { LedgerSample } from '../../model/ledger-entry.ts';
import type { Violation } from '../../model/violation.ts';
import { type EntryDelta, type EntryFacts, MAX_SAMPLES } from '../ledger-batch.ts';
import type { ViolationKind } from './fingerprint.ts';
import { shownText } from '../../privacy/shown-text.ts';

/** One occurrence of a violation. */
export interface Occurrence {
  readonly sample: LedgerSample;
  /** The caller's place in the bitmap; undefined where nobody asked. */
  readonly caller: number | undefined;
}

/** Violations that were seen since the last batch, deduplicated. */
export interface PendingEntries {
  /** False when there is no room for one more kind. */
  add(fingerprint: string, facts: () => EntryFacts, occurrence: Occurrence): boolean;
  /** Fingerprints. */
  keys(): Iterable<string>;
  /** Everything added since the last time, the most recently seen last. */
  take(): EntryDelta[];
}

/** Kinds of one direction that may wait for the store. */
const MAX_PENDING = 1_000;
/** Share of them that one rule of one operation may have once half of the room is taken: who invents names leaves room for others. */
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

/** Creates the pending entries of one direction. */
export function createPendingEntries(limit = MAX_PENDING): PendingEntries {
  let entries = new Map<string, Pending>();
  let likes = new Map<string, number>();
  const hasRoom = ({ operation, keyword }: EntryFacts) => {
    const like = `${operation ?? ''} ${keyword}`;
    const count = likes.get(like) ?? 0;
    if (entries.size >= limit / 2 && count >= Math.ceil(limit * SHARE)) return false;
    likes.set(like, count + 1);
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
      // Put in again: a Map keeps the order of insertion, so that the most recently seen is the last.
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
      likes = new Map();
      return taken;
    },
  };
}

/** What a ledger keeps of a violation; nothing in it is a value of a message. */
export function entryFactsOf(operation: string | undefined, kind: ViolationKind, violation: Violation): EntryFacts {
  const { check, direction, category, location, keyword, schemaPath, candidate } = violation;
  return {
    fingerprint: kind.fingerprint,
    operation,
    status: kind.status,
    check,
    direction,
    category,
    location,
    keyword,
    schemaPath,
    at: kind.at,
    message: sentenceOf(kind, violation),
    suggestion: shownText(violation.suggestion),
    ...(candidate !== undefined && { candidate }),
  };
}

function sentenceOf({ at }: ViolationKind, violation: Violation): string {
  // A place that had to be altered may be quoted in the sentence too.
  if (at !== violation.at && at.includes('?')) return `breaks the rule ${violation.keyword}`;
  const sentence = violation.at === '' ? violation.message : violation.message.replaceAll(violation.at, at);
  return shownText(sentence) ?? `breaks the rule ${violation.keyword}`;
}

import type { Clock } from '../lib/clock.ts';
import type { Trace } from '../model/trace.ts';
import type { Violation } from '../model/violation.ts';
import { fingerprintOf, kindOf, type ViolationKind } from './fingerprint.ts';
import type { Ledger, LedgerEntry } from './ledger.ts';

/** How large a ledger may grow, and whose time it uses. */
export interface LedgerOptions {
  readonly clock: Clock;
  /** Distinct violations kept; half of them for requests, half for responses. */
  readonly maxEntries?: number;
}

const MAX_SAMPLES = 5;

interface Kept extends LedgerEntry {
  count: number;
  lastSeenAt: number;
  readonly requestIds: string[];
}

/**
 * Creates a ledger in memory. Each direction has a share of its own and loses its least recently seen entry when that is
 * full: callers who invent parameter names cannot push out what is known about the upstream.
 */
export function createLedger(options: LedgerOptions): Ledger {
  const share = Math.max(1, Math.floor((options.maxEntries ?? 1_000) / 2));
  const shares = { request: new Map<string, Kept>(), response: new Map<string, Kept>() };
  let dropped = 0;

  const take = (trace: Trace, violation: Violation, now: number): void => {
    const kept = shares[violation.direction];
    const kind = kindOf(trace, violation);
    const entry = kept.get(kind.key) ?? entryOf(trace, violation, kind, now);
    entry.count += 1;
    entry.lastSeenAt = now;
    if (entry.requestIds.at(-1) !== trace.requestId) entry.requestIds.push(trace.requestId);
    if (entry.requestIds.length > MAX_SAMPLES) entry.requestIds.shift();
    // Taken out and put in again: a Map keeps the order of insertion, so the first is the least recently seen.
    kept.delete(kind.key);
    kept.set(kind.key, entry);
    if (kept.size <= share) return;
    const [oldest] = kept.keys();
    if (oldest !== undefined) kept.delete(oldest);
    dropped += 1;
  };

  return {
    record: (trace) => {
      if (trace.violations.length === 0) return;
      const now = options.clock();
      for (const violation of trace.violations) take(trace, violation, now);
    },
    entries: () =>
      [...shares.request.values(), ...shares.response.values()]
        .map((entry) => structuredClone(entry))
        .sort((a, b) => b.lastSeenAt - a.lastSeenAt),
    size: () => shares.request.size + shares.response.size,
    dropped: () => dropped,
    close: () => {
      shares.request.clear();
      shares.response.clear();
    },
  };
}

function entryOf(trace: Trace, violation: Violation, kind: ViolationKind, now: number): Kept {
  const { check, direction, category, location, keyword, schemaPath } = violation;
  // A place that had to be altered may be quoted in the sentence too.
  const trusted = kind.at === violation.at || !kind.at.includes('?');
  return {
    fingerprint: fingerprintOf(kind),
    operation: trace.operation,
    statusClass: kind.statusClass,
    check,
    direction,
    category,
    location,
    keyword,
    schemaPath,
    at: kind.at,
    message: trusted ? violation.message.slice(0, 300) : `breaks the rule ${keyword}`,
    suggestion: violation.suggestion,
    count: 0,
    firstSeenAt: now,
    lastSeenAt: now,
    requestIds: [],
  };
}

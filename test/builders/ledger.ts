import { randomBytes } from 'node:crypto';
import { withSchemaDefaults } from '../../src/engine/config/configurable.ts';
import { type LedgerOptions, options } from '../../src/features/ledger/options.ts';
import { HOUR_MS } from '../../src/lib/clock.ts';
import { createTrace, type Trace } from '../../src/engine/model/trace.ts';
import type { Violation } from '../../src/engine/model/violation.ts';
import type { LedgerBatch } from '../../src/features/ledger/ledger-batch.ts';
import { createLedger, type LedgerParts } from '../../src/features/ledger/record/create-ledger.ts';
import { createKindOf } from '../../src/engine/model/violation-kind.ts';
import type { OpenedStore, StoreLimits } from '../../src/features/ledger/ledger-store.ts';
import { openSqliteStore } from '../../src/features/ledger/store/sqlite/sqlite-store.ts';
import { IN_MEMORY } from '../../src/lib/replace-file.ts';

/** The options of a ledger by default. */
export const LEDGER_DEFAULTS = withSchemaDefaults(options as never, undefined) as LedgerOptions;

/** An instant at the start of an hour. */
export const NOW = Date.UTC(2026, 4, 4, 10);

let made = 0;

/** Creates the trace of a completed request that has the given violations. */
export function finished(violations: readonly Violation[] = [], more: Partial<Trace> = {}): Trace {
  made += 1;
  const start = { requestId: `req-${made}`, traceparent: '', method: 'GET', startedAt: NOW };
  const upstream = { status: 200, shape: 'json', seconds: 0.1, attempts: 1 };
  return { ...createTrace(start), operation: 'listQuestions', upstream, ...more, violations: [...violations] };
}

let batches = 0;

/** Creates a batch with the next number and only the given contents. */
export const batch = (more: Partial<LedgerBatch> = {}): LedgerBatch => ({
  number: (batches += 1),
  writtenAt: NOW,
  release: 'one',
  entries: [],
  traffic: [],
  statistics: [],
  dropped: 0,
  ...more,
});

/** Creates traffic rows for one operation. */
export const trafficOf = (requests: number, operation = 'listIdeas', hour = NOW / HOUR_MS) => [
  { operation, hour, requests, checks: {} },
];
/** Creates a batch entry: one occurrence of a violation. */
export const entryOf = (fingerprint: string, more: Partial<LedgerBatch['entries'][number]> = {}) => ({
  facts: {
    fingerprint,
    operation: 'listIdeas',
    status: 200,
    check: 'responses' as const,
    direction: 'response' as const,
    category: 'type' as const,
    location: 'body' as const,
    keyword: 'type',
    schemaPath: '#/type',
    at: '/list/*/id',
    message: 'm'.repeat(300),
    suggestion: undefined,
  },
  firstSeenAt: NOW,
  lastSeenAt: NOW,
  hours: [[NOW / HOUR_MS, 1]] as const,
  callers: [1],
  samples: [],
  ...more,
});

/** Opens a store in memory. Unlike the store of a gateway, it works in the calling thread. */
export function memoryStore(limits: StoreLimits = { maxEntries: 1_000, retentionDays: 30 }): OpenedStore {
  const callerKey = randomBytes(32).toString('hex');
  const store = openSqliteStore(IN_MEMORY, { ...limits, maxBytes: 64 * 1024 * 1024 }, callerKey);
  return { store, fingerprints: [], callerKey, isLasting: false };
}

/** Creates an in-memory ledger. */
export function ledgerWith(parts: Partial<LedgerParts> & { maxEntries?: number; retentionDays?: number } = {}) {
  const { maxEntries = 1_000, retentionDays = 30, ...rest } = parts;
  return createLedger({
    clock: () => NOW,
    kindOf: createKindOf(),
    operations: ['listQuestions', 'listIdeas'],
    release: 'one',
    inMemory: memoryStore({ maxEntries, retentionDays }),
    ...rest,
  });
}

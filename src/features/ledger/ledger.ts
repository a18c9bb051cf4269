import type { Feature } from '../../engine/feature.ts';
import { usesRedis } from '../../engine/sharing/redis/redis-options.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { assembleLedger } from './assemble-ledger.ts';
import { options } from './options.ts';
import { createLedger } from './record/create-ledger.ts';
import { violationsPage } from './violations-page.ts';
import { ledgerAt, ledgerStoreOf, openLedgerInMemory, withLedgerFile } from './store/select-store.ts';

const ENTRIES = {
  name: 'portico_ledger_entries',
  type: 'gauge',
  labels: [],
  help: 'Distinct violations in the ledger.',
} as const;

const DROPPED = {
  name: 'portico_ledger_dropped_total',
  type: 'counter',
  labels: [],
  help: 'Records that the ledger lost because it was full or could not be written.',
} as const;

/** Counts violations and traffic by hour and release (docs/ledger.md). */
export const ledger = {
  name: 'ledger',
  options,
  needsRestart: true,
  metrics: [ENTRIES, DROPPED],
  files: { file: 'state' },
  variables: () => ({ PORTICO_LEDGER: 'file' }),
  check: ({ store }, { redis }) =>
    store !== 'redis' || usesRedis(redis)
      ? []
      : [{ pointer: '/ledger/store', other: '/redis', message: 'needs a Redis server', suggestion: 'set redis.url' }],
  warn: (given, { settings }) =>
    ledgerStoreOf(given, settings.redis) === 'redis'
      ? [{ pointer: '/ledger/file', because: 'the ledger is in Redis, unless ledger.store is file' }]
      : [],
  auditRules: [
    {
      id: 'ledger-in-memory',
      severity: 'medium',
      key: '/ledger/file',
      realOnly: true,
      risk: 'A restart loses all recorded violations, so nothing shows whether a check is ready to be enforced.',
      fix: 'Set ledger.file to a path on a persistent volume.',
      find: ({ file }) => (file === IN_MEMORY ? [IN_MEMORY] : []),
    },
  ],
  records: {
    at: (given, { redis }, file) =>
      file === undefined ? ledgerAt(given, redis) : ledgerAt(withLedgerFile(given, file), redis),
    inMemory: (given, parts) => createLedger({ ...parts, inMemory: openLedgerInMemory(given) }),
    inFile: (given, settings, file, parts) =>
      assembleLedger(given, settings, {
        ...parts,
        location: ledgerAt(withLedgerFile(given, file), settings.redis),
        writer: { replica: '', redis: undefined },
      }),
  },
  dependsOn: ({ release, contract }) => [release, contract.folder],
  start(context) {
    const {
      options: given,
      settings,
      operations,
      clock,
      kindOf,
      logger,
      sharing,
      instance,
      metrics,
      lasting,
    } = context;
    const setup = { release: settings.release, operations: operations.map(({ id }) => id) };
    const kept = lasting(
      () =>
        assembleLedger(given, settings, {
          ...setup,
          clock,
          kindOf,
          logger,
          location: ledgerAt(given, settings.redis),
          writer: { replica: instance, redis: sharing.redis },
        }),
      (one) => one.close(),
    );
    metrics.read(ENTRIES, () => [[[], kept.size()]]);
    metrics.read(DROPPED, () => [[[], kept.dropped()]]);
    return {
      records: kept,
      open: kept.open,
      use: () => kept.configure(setup),
      finished: kept.record,
      found: kept.record,
      sampled: kept.recordFields,
      pages: [violationsPage(context)],
    };
  },
} as const satisfies Feature<typeof options>;

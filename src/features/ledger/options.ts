import { type Static, Type } from 'typebox';

const LEDGER_STORES = ['file', 'redis', 'memory'] as const;

/** A kind of ledger store. `ledgerAt` opens a store of the configured kind. */
export type LedgerStoreKind = (typeof LEDGER_STORES)[number];

/** The options under the `ledger` configuration key. */
export const options = Type.Object(
  {
    store: Type.Optional(
      Type.Enum([...LEDGER_STORES], {
        description:
          'Where the ledger is stored: `file`, `redis` or `memory`. By default, `redis` if Redis is configured, so that all gateways share one ledger; otherwise `file`, or `memory` if `ledger.file` is `:memory:`.',
      }),
    ),
    file: Type.String({
      minLength: 1,
      default: '.portico/ledger.db',
      description:
        'Path, relative to the working directory, or `:memory:` for a ledger that is lost when the process ends.',
    }),
    retentionDays: Type.Number({
      exclusiveMinimum: 0,
      maximum: 3650,
      default: 30,
      description: 'How many days after its last occurrence a violation is removed.',
    }),
    maxEntries: Type.Integer({
      minimum: 2,
      maximum: 100_000,
      default: 1_000,
      description: 'The maximum number of distinct violations; half of them for requests, half for responses.',
    }),
    maxBytes: Type.Integer({
      minimum: 1_048_576,
      maximum: 10_737_418_240,
      default: 64 * 1024 * 1024,
      description:
        'Maximum size of the ledger (in Redis, an estimate). Violations that do not fit are counted as dropped.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'Where violations are stored, and for how long.' },
);

/** The options under the `ledger` configuration key, with all defaults filled in. `file` is an absolute path. */
export type LedgerOptions = Static<typeof options>;

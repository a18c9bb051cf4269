/** The options under the `ledger` configuration key, with all defaults filled in. */
export interface LedgerOptions {
  /**
   * The kind of store. If undefined and Redis is configured, the ledger is shared through Redis, unless `file` is
   * `:memory:`.
   */
  readonly store?: LedgerStoreKind;
  /** The ledger file: an absolute path, or `:memory:` for a ledger that is lost when the process ends. */
  readonly file: string;
  /** How long a violation is stored after its last occurrence, in days. */
  readonly retentionDays: number;
  /** The maximum number of distinct violations. Half of this number is for requests and half for responses. */
  readonly maxEntries: number;
  /** The maximum size of the file, in bytes. */
  readonly maxBytes: number;
}

/** The defaults for the `ledger` configuration key. */
export const LEDGER_DEFAULTS: LedgerOptions = {
  file: '.portico/ledger.db',
  retentionDays: 30,
  maxEntries: 1_000,
  maxBytes: 64 * 1024 * 1024,
};

const LEDGER_STORES = ['file', 'redis', 'memory'] as const;

/** A kind of ledger store. `ledgerAt` opens a store of the configured kind. */
export type LedgerStoreKind = (typeof LEDGER_STORES)[number];

/** The JSON Schema for the `ledger` configuration key. */
export const ledgerOptionsSchema = {
  type: 'object',
  description: 'Where violations are stored, and for how long.',
  additionalProperties: false,
  properties: {
    store: {
      enum: LEDGER_STORES,
      description:
        'Where the ledger is stored: `file`, `redis` or `memory`. By default, `redis` if Redis is configured, so that all gateways share one ledger; otherwise `file`, or `memory` if `ledger.file` is `:memory:`.',
    },
    file: {
      type: 'string',
      minLength: 1,
      description:
        'Path, relative to the working directory, or `:memory:` for a ledger that is lost when the process ends.',
    },
    retentionDays: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 3650,
      description: 'How many days after its last occurrence a violation is removed.',
    },
    maxEntries: {
      type: 'integer',
      minimum: 2,
      maximum: 100_000,
      description: 'The maximum number of distinct violations; half of them for requests, half for responses.',
    },
    maxBytes: {
      type: 'integer',
      minimum: 1_048_576,
      maximum: 10_737_418_240,
      description:
        'Maximum size of the ledger (in Redis, an estimate). Violations that do not fit are counted as dropped.',
    },
  },
};

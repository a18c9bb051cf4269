/** The configuration key `ledger:` with every default filled in. */
export interface LedgerOptions {
  /** An absolute path, or `:memory:` for a ledger that ends with the process. */
  readonly file: string;
  /** Days after which what was not seen again is forgotten. */
  readonly retentionDays: number;
  /** Distinct violations kept; half of them for requests, half for responses. */
  readonly maxEntries: number;
  /** The most that the file may take, in bytes. */
  readonly maxBytes: number;
}

/** What holds where the configuration is silent. */
export const LEDGER_DEFAULTS: LedgerOptions = {
  file: '.portico/ledger.db',
  retentionDays: 30,
  maxEntries: 1_000,
  maxBytes: 64 * 1024 * 1024,
};

/** The JSON Schema of the configuration key `ledger:`. */
export const ledgerOptionsSchema = {
  type: 'object',
  description: 'Where violations are kept, and for how long.',
  additionalProperties: false,
  properties: {
    file: {
      type: 'string',
      minLength: 1,
      description: 'A path, relative to where Portico is started, or :memory: for a ledger that ends with the process.',
    },
    retentionDays: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 3650,
      description: 'Days after which what was not seen again is forgotten.',
    },
    maxEntries: {
      type: 'integer',
      minimum: 2,
      maximum: 100_000,
      description: 'Distinct violations kept; half of them for requests, half for responses.',
    },
    maxBytes: {
      type: 'integer',
      minimum: 1_048_576,
      maximum: 10_737_418_240,
      description: 'The most that the file may take, in bytes; what does not fit is counted as dropped.',
    },
  },
};

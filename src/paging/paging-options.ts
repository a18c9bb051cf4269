/** The configuration key `pageBounds:` with every default filled in. */
export interface PagingOptions {
  /** The largest `pageSize` that may be asked for. */
  readonly maxPageSize: number;
  /** Seconds for which a learned page count is believed. */
  readonly maxAgeSeconds: number;
  /** The most page counts that are remembered. */
  readonly maxEntries: number;
}

/** The configuration key `pageBounds:` of one operation, as written. */
export interface OperationPagingConfig {
  readonly maxPageSize?: number;
}

/** What holds where the configuration is silent. */
export const DEFAULT_PAGING_OPTIONS: PagingOptions = { maxPageSize: 100, maxAgeSeconds: 300, maxEntries: 10_000 };

/** Fills the defaults in; an operation's own maximum wins over the global one. */
export function toPagingOptions(
  config: Partial<PagingOptions> = {},
  operation: OperationPagingConfig = {},
): PagingOptions {
  return { ...DEFAULT_PAGING_OPTIONS, ...config, ...operation };
}

const maxPageSize = {
  type: 'integer',
  minimum: 1,
  maximum: 10_000,
  description: 'The largest pageSize that may be asked for.',
};

/** The JSON Schema of the configuration key `pageBounds:`. */
export const pagingOptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    maxPageSize,
    maxAgeSeconds: {
      type: 'number',
      minimum: 0,
      maximum: 86_400,
      description: 'Seconds for which a learned page count is believed.',
    },
    maxEntries: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      description: 'The most page counts that are remembered.',
    },
  },
};

/** The JSON Schema of the configuration key `pageBounds:` of one operation. */
export const operationPagingSchema = {
  type: 'object',
  additionalProperties: false,
  properties: { maxPageSize },
};

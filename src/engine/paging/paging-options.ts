/** The options under the `pageBounds` configuration key, including all defaults. */
export interface PagingOptions {
  /** The largest `pageSize` that a client may request. */
  readonly maxPageSize: number;
  /** How long a learned page count is used, in seconds. */
  readonly maxAgeSeconds: number;
  /** The maximum number of stored page counts. */
  readonly maxEntries: number;
}

/** The options under the `pageBounds` configuration key of a single operation, without defaults. */
export interface OperationPagingConfig {
  readonly maxPageSize?: number;
}

/** The default values of all `pageBounds` options. */
export const DEFAULT_PAGING_OPTIONS: PagingOptions = { maxPageSize: 100, maxAgeSeconds: 300, maxEntries: 10_000 };

/** Fills in the defaults. An operation's own maximum, if any, replaces the global maximum. */
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
  description: 'The largest `pageSize` that may be requested.',
};

/** The JSON Schema for the `pageBounds` configuration key. */
export const pagingOptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    maxPageSize,
    maxAgeSeconds: {
      type: 'number',
      minimum: 0,
      maximum: 86_400,
      description: 'How long a learned page count is used.',
    },
    maxEntries: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      description: 'Maximum number of page counts in memory.',
    },
  },
};

/** The JSON Schema for the `pageBounds` configuration key of a single operation. */
export const operationPagingSchema = {
  type: 'object',
  additionalProperties: false,
  properties: { maxPageSize },
};

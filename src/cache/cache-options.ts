/** Which verdict on an answer lets it be stored (rules, 6). */
export type StoreRule = 'valid' | 'accepted' | 'wellFormed';

/** How long a page is used: instants follow from these durations, counted from the moment it was fetched. */
export interface Freshness {
  /** Seconds for which a page is served without asking the upstream. */
  readonly freshSeconds: number;
  /** Seconds after that in which it is served while a new one is fetched (RFC 5861, 3). */
  readonly staleWhileRevalidateSeconds: number;
  /** Seconds after freshness in which it stands in for a failing upstream (RFC 5861, 4). */
  readonly staleIfErrorSeconds: number;
}

/** The configuration key `cache:` with every default filled in. */
export interface CacheOptions extends Freshness {
  /** Overrides what the mode says; undefined leaves it to the mode. */
  readonly enabled: boolean | undefined;
  readonly maxBytes: number;
  readonly maxEntryBytes: number;
  /** Whether kept pages are sent gzip-coded to clients that take it. */
  readonly gzip: boolean;
  readonly store: StoreRule;
  /** True where the upstream's `Cache-Control` and `Expires` count. */
  readonly respectUpstream: boolean;
  /** The deployment's own page size where none is asked for: of all lists or by operation id; lets an absent `pageSize` share an entry. */
  readonly defaultPageSize: number | Readonly<Record<string, number>> | undefined;
  /** Roles whose `no-cache` is honoured. */
  readonly noCacheRoles: readonly string[];
  /** The share of hits on shared pages that is compared with the caller's own answer, 0 to 1. */
  readonly sampleShared: number;
}

/** What holds where the configuration is silent. */
export const DEFAULT_CACHE_OPTIONS: CacheOptions = {
  enabled: undefined,
  freshSeconds: 30,
  staleWhileRevalidateSeconds: 30,
  staleIfErrorSeconds: 300,
  maxBytes: 64 * 1024 * 1024,
  maxEntryBytes: 2 * 1024 * 1024,
  gzip: true,
  store: 'accepted',
  respectUpstream: false,
  defaultPageSize: undefined,
  noCacheRoles: [],
  sampleShared: 0.01,
};

/** Fills the defaults in. */
export function toCacheOptions(config: Partial<CacheOptions> = {}): CacheOptions {
  return { ...DEFAULT_CACHE_OPTIONS, ...config };
}

/** The page size that an absent `pageSize` means for an operation, where the deployment's is configured. */
export function knownDefaultPageSize(options: CacheOptions, operationId: string): number | undefined {
  const configured = options.defaultPageSize;
  if (typeof configured !== 'object') return configured;
  return Object.hasOwn(configured, operationId) ? configured[operationId] : undefined;
}

const seconds = (description: string) => ({ type: 'number', minimum: 0, maximum: 604_800, description });

/** Schema properties of the three durations, shared by the global key and the per-operation one. */
export const freshnessProperties = {
  freshSeconds: seconds('Seconds for which a stored page is served without asking the upstream.'),
  staleWhileRevalidateSeconds: seconds('Seconds after freshness in which it is served while a new page is fetched.'),
  staleIfErrorSeconds: seconds('Seconds after freshness in which it stands in for a failing upstream.'),
};

/** Schema property of the rule on what is stored. */
export const storeProperty = {
  enum: ['valid', 'accepted', 'wellFormed'],
  description: 'Which answers are stored: valid ones, accepted violations too, or any in the documented outer form.',
};

const pageSize = { type: 'integer', minimum: 1, maximum: 10_000 };

/** The JSON Schema of the configuration key `cache:`. */
export const cacheOptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: { type: 'boolean', description: 'Overrides the mode.' },
    ...freshnessProperties,
    maxBytes: { type: 'integer', minimum: 65_536, description: 'Memory for stored pages, in bytes.' },
    maxEntryBytes: { type: 'integer', minimum: 1024, description: 'The largest page that is stored, in bytes.' },
    gzip: { type: 'boolean', description: 'Whether kept pages are sent gzip-coded to clients that take it.' },
    store: storeProperty,
    respectUpstream: { type: 'boolean', description: "Whether the upstream's Cache-Control and Expires count." },
    defaultPageSize: {
      description: 'The page size of the deployment where none is asked for: one for all lists or one per operation.',
      anyOf: [pageSize, { type: 'object', additionalProperties: pageSize }],
    },
    noCacheRoles: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Roles whose no-cache is honoured.',
    },
    sampleShared: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: "The share of hits on shared pages that is compared with the caller's own answer.",
    },
  },
};

import type { Fault } from '../model/fault.ts';

/** The worst verdict that still allows a response to be stored (docs/rules.md §6). */
export type StoreRule = 'valid' | 'accepted' | 'wellFormed';

/** How long a page may be used after it is fetched. */
export interface Freshness {
  /** How long a page is served without contacting the upstream, in seconds. */
  readonly freshSeconds: number;
  /** How long a stale page is still served while a new one is fetched, in seconds (RFC 5861 §3). */
  readonly staleWhileRevalidateSeconds: number;
  /** How long a stale page is still served when the upstream fails, in seconds (RFC 5861 §4). */
  readonly staleIfErrorSeconds: number;
}

/** The value of the `cache` configuration key, including all defaults. */
export interface CacheOptions extends Freshness {
  /** Whether the cache is on. If undefined, the mode's default applies. */
  readonly enabled: boolean | undefined;
  readonly maxBytes: number;
  readonly maxEntryBytes: number;
  /** True if stored responses are sent compressed to clients that accept gzip. */
  readonly gzip: boolean;
  /** True if stored responses are sent compressed to clients that accept zstd. */
  readonly zstd: boolean;
  readonly store: StoreRule;
  /** True if the upstream's `Cache-Control` and `Expires` headers are respected. */
  readonly respectUpstream: boolean;
  /**
   * The upstream's default page size: either a single number for all lists or one number per operation id. If set,
   * requests without `pageSize` share stored pages with requests for that size.
   */
  readonly defaultPageSize: number | Readonly<Record<string, number>> | undefined;
  /** The roles that allow a caller to bypass the cache with `no-cache`. */
  readonly noCacheRoles: readonly string[];
  /**
   * The fraction of hits on shared pages that are verified, from 0 to 1. For these hits, the caller's own response is
   * also fetched and compared with the stored page.
   */
  readonly sampleShared: number;
  /**
   * The final part of a page's freshness lifetime, as a fraction from 0 to 0.5. In this period, one of the gateways
   * that share the page refreshes it. 0 means that pages are refreshed only once they are stale.
   */
  readonly earlyRefresh: number;
  readonly failures: FailingPageOptions;
}

/** Determines when requests for a page are refused because fetching it has failed repeatedly. */
export interface FailingPageOptions {
  /**
   * The number of consecutive failures after which requests for a page are refused. 0 means that no requests are
   * refused.
   */
  readonly after: number;
  /** How long requests for the page are refused, in seconds. */
  readonly seconds: number;
}

/** The defaults for the `cache` configuration key. */
export const DEFAULT_CACHE_OPTIONS: CacheOptions = {
  enabled: undefined,
  freshSeconds: 30,
  staleWhileRevalidateSeconds: 30,
  staleIfErrorSeconds: 300,
  maxBytes: 64 * 1024 * 1024,
  maxEntryBytes: 2 * 1024 * 1024,
  gzip: true,
  zstd: true,
  store: 'accepted',
  respectUpstream: false,
  defaultPageSize: undefined,
  noCacheRoles: [],
  sampleShared: 0.01,
  earlyRefresh: 0.1,
  failures: { after: 3, seconds: 5 },
};

/** Adds the defaults to the configured options. */
export function toCacheOptions(config: Partial<CacheOptions> = {}): CacheOptions {
  const { failures } = DEFAULT_CACHE_OPTIONS;
  return { ...DEFAULT_CACHE_OPTIONS, ...config, failures: { ...failures, ...config.failures } };
}

/** Returns the configured default page size for an operation, or undefined if none is configured. */
export function knownDefaultPageSize(options: CacheOptions, operationId: string): number | undefined {
  const configured = options.defaultPageSize;
  if (typeof configured !== 'object') return configured;
  return Object.hasOwn(configured, operationId) ? configured[operationId] : undefined;
}

const seconds = (description: string) => ({ type: 'number', minimum: 0, maximum: 604_800, description });

/** The JSON Schemas for the three freshness durations, used in both `cache` and an operation's cache options. */
const freshnessProperties = {
  freshSeconds: seconds('How long a stored response is served without contacting the upstream.'),
  staleWhileRevalidateSeconds: seconds(
    'How long after it becomes stale a stored response is served while a new one is fetched.',
  ),
  staleIfErrorSeconds: seconds(
    'How long after it becomes stale a stored response is served instead of upstream errors.',
  ),
};

/** The JSON Schema for the `store` property. */
const storeProperty = {
  enum: ['valid', 'accepted', 'wellFormed'],
  description:
    'Which responses are stored: only `valid` ones, also those with `accepted` violations, or all that have the documented envelope (`wellFormed`).',
};

const pageSize = { type: 'integer', minimum: 1, maximum: 10_000 };

/** The JSON Schema for the `cache` configuration key. */
export const cacheOptionsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: {
      type: 'boolean',
      description: 'Whether responses are stored. Overrides the mode, but cannot be `true` in `observe` mode.',
    },
    ...freshnessProperties,
    maxBytes: { type: 'integer', minimum: 65_536, description: 'Maximum memory for stored responses.' },
    maxEntryBytes: { type: 'integer', minimum: 1024, description: 'Maximum size of a stored response.' },
    gzip: { type: 'boolean', description: 'Whether stored responses are sent compressed to clients that accept gzip.' },
    zstd: {
      type: 'boolean',
      description:
        'Whether stored responses are sent compressed to clients that accept zstd, which takes less time than gzip.',
    },
    store: storeProperty,
    respectUpstream: {
      type: 'boolean',
      description:
        "Whether the upstream's Cache-Control, Expires, Age and Date are honored. A response is as old as the greater of its Age and the time since its Date; if one of these headers is invalid or repeated, the response is not stored.",
    },
    defaultPageSize: {
      description:
        'The page size that the upstream uses if a request has no `pageSize`, for all lists or by operation id. Such requests then share entries with those that name it.',
      anyOf: [pageSize, { type: 'object', additionalProperties: pageSize }],
    },
    noCacheRoles: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Roles whose callers may use `no-cache`; in other requests, it is ignored.',
    },
    sampleShared: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description:
        'Fraction (0 to 1) of the hits on shared pages that are compared with a response fetched for the caller.',
    },
    earlyRefresh: {
      type: 'number',
      minimum: 0,
      maximum: 0.5,
      description:
        'With `redis`: the last part of the freshness period, as a fraction (0 to 0.5), during which one gateway refreshes a page for all of them. With 0, pages are refreshed once they are stale.',
    },
    failures: {
      type: 'object',
      additionalProperties: false,
      description: 'When requests for a page that keeps failing are refused.',
      properties: {
        after: {
          type: 'integer',
          minimum: 0,
          maximum: 1000,
          description:
            "Number of consecutive failures, at most a minute apart, after which requests for a page get a stale response or a 503 (`upstream_page_failing`). Unless a service account fetches the page, only the caller's own failures count. With 0, never.",
        },
        seconds: {
          type: 'integer',
          minimum: 1,
          maximum: 600,
          description:
            'How long these requests are refused. Then one goes to the upstream; if it fails, they are refused for as long again.',
        },
      },
    },
  },
};

/**
 * The callers who share a stored page: only one caller, all callers with the same permissions, or all callers
 * (docs/rules.md §6).
 */
export type Audience = 'caller' | 'permissions' | 'public';

/** An operation's cache configuration, without defaults. */
export interface OperationCacheConfig extends Partial<Freshness> {
  readonly enabled?: boolean;
  readonly audience?: Audience;
  readonly store?: StoreRule;
  /** True if the operator guarantees that the upstream's responses do not depend on the caller. */
  readonly assumeImpersonal?: boolean;
}

/** An operation's effective cache options. */
export interface OperationCacheOptions extends Freshness {
  readonly enabled: boolean;
  readonly audience: Audience;
  readonly store: StoreRule;
  readonly respectUpstream: boolean;
  readonly assumeImpersonal: boolean;
}

/**
 * Returns an operation's effective cache options. `byDefault` is the setting in the contract, and `on` is the mode's
 * default.
 */
export function toOperationCacheOptions(
  options: CacheOptions,
  operation: { readonly byDefault: boolean; readonly on: boolean },
  config: OperationCacheConfig = {},
): OperationCacheOptions {
  return {
    enabled: (options.enabled ?? operation.on) && (config.enabled ?? operation.byDefault),
    audience: config.audience ?? 'caller',
    store: config.store ?? options.store,
    respectUpstream: options.respectUpstream,
    assumeImpersonal: config.assumeImpersonal ?? false,
    freshSeconds: config.freshSeconds ?? options.freshSeconds,
    staleWhileRevalidateSeconds: config.staleWhileRevalidateSeconds ?? options.staleWhileRevalidateSeconds,
    staleIfErrorSeconds: config.staleIfErrorSeconds ?? options.staleIfErrorSeconds,
  };
}

/**
 * Returns a configuration error if a page fetched with one caller's credential would be shared with other callers. The
 * operator can allow such sharing with `assumeImpersonal`.
 */
export function audienceFault(
  options: OperationCacheOptions,
  where: { readonly source: string; readonly pointer: string; readonly usesServiceCredential: boolean },
): Fault | undefined {
  if (!options.enabled || options.audience === 'caller') return undefined;
  if (where.usesServiceCredential || options.assumeImpersonal) return undefined;
  return {
    source: where.source,
    pointer: where.pointer,
    message: `audience ${options.audience} shares pages that are fetched with one caller's credential`,
    suggestion: 'use a service credential for this operation, or set assumeImpersonal: true',
  };
}

/** The JSON Schema for an operation's cache configuration. */
export const operationCacheSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: { type: 'boolean', description: 'Whether responses of this operation are stored.' },
    audience: { enum: ['caller', 'permissions', 'public'], description: 'The callers who share a stored response.' },
    ...freshnessProperties,
    store: storeProperty,
    assumeImpersonal: {
      type: 'boolean',
      description:
        "The operator's assurance that the upstream's responses do not depend on the caller; required for a shared audience unless there is a service account.",
    },
  },
};

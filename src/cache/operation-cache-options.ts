import type { Fault } from '../model/fault.ts';
import {
  type CacheOptions,
  type Freshness,
  freshnessProperties,
  type StoreRule,
  storeProperty,
} from './cache-options.ts';

/** Who shares a stored page: one caller, callers with equal permissions, or everybody (rules, 6). */
export type Audience = 'caller' | 'permissions' | 'public';

/** The configuration key `cache:` of one operation, as written. */
export interface OperationCacheConfig extends Partial<Freshness> {
  readonly enabled?: boolean;
  readonly audience?: Audience;
  readonly store?: StoreRule;
  /** The operator's word that the upstream answers every caller alike. */
  readonly assumeImpersonal?: boolean;
}

/** How answers of one operation are kept, with everything decided. */
export interface OperationCacheOptions extends Freshness {
  readonly enabled: boolean;
  readonly audience: Audience;
  readonly store: StoreRule;
  readonly respectUpstream: boolean;
  readonly assumeImpersonal: boolean;
}

/** Decides how answers of one operation are kept; `byDefault` is the contract's word, `on` the mode's. */
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

/** The fault of a shared audience whose pages are fetched with callers' own credentials, unless the operator vouches for it. */
export function audienceFault(
  options: OperationCacheOptions,
  where: { readonly source: string; readonly pointer: string; readonly usesServiceCredential: boolean },
): Fault | undefined {
  if (!options.enabled || options.audience === 'caller') return undefined;
  if (where.usesServiceCredential || options.assumeImpersonal) return undefined;
  return {
    source: where.source,
    pointer: where.pointer,
    message: `audience ${options.audience} shares pages that were fetched with one caller's credential`,
    suggestion: 'use a service credential for this operation, or write assumeImpersonal: true',
  };
}

/** The JSON Schema of the configuration key `cache:` of one operation. */
export const operationCacheSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: { type: 'boolean', description: 'Whether answers of this operation are kept.' },
    audience: { enum: ['caller', 'permissions', 'public'], description: 'Who shares a stored page.' },
    ...freshnessProperties,
    store: storeProperty,
    assumeImpersonal: {
      type: 'boolean',
      description: 'Your word that the upstream answers every caller alike; needed for a shared audience.',
    },
  },
};

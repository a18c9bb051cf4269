import type { Fault } from '../model/fault.ts';
import {
  type CacheOptions,
  type Freshness,
  freshnessProperties,
  type StoreRule,
  storeProperty,
} from './cache-options.ts';

/** The callers that share a stored page: one caller, callers with equal permissions, or all callers (rules, 6). */
export type Audience = 'caller' | 'permissions' | 'public';

/** The configuration key `cache:` of one operation, without defaults. */
export interface OperationCacheConfig extends Partial<Freshness> {
  readonly enabled?: boolean;
  readonly audience?: Audience;
  readonly store?: StoreRule;
  /** True if the operator asserts that the upstream's responses do not depend on the caller. */
  readonly assumeImpersonal?: boolean;
}

/** The effective cache options of one operation. */
export interface OperationCacheOptions extends Freshness {
  readonly enabled: boolean;
  readonly audience: Audience;
  readonly store: StoreRule;
  readonly respectUpstream: boolean;
  readonly assumeImpersonal: boolean;
}

/** Returns the effective cache options of an operation. `byDefault` comes from the contract, `on` from the mode. */
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
 * Returns a configuration error if a shared audience gets pages fetched with a caller's own credential, unless the operator
 * asserts with `assumeImpersonal` that this is safe.
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

/** The JSON Schema of the configuration key `cache:` of one operation. */
export const operationCacheSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: { type: 'boolean', description: 'Store responses of this operation.' },
    audience: { enum: ['caller', 'permissions', 'public'], description: 'Who shares a stored page.' },
    ...freshnessProperties,
    store: storeProperty,
    assumeImpersonal: {
      type: 'boolean',
      description: "Assert that the upstream's responses do not depend on the caller; required for a shared audience.",
    },
  },
};

import type { FeatureMetrics } from '../../engine/telemetry/metric-registry.ts';

const VERIFICATIONS = {
  name: 'portico_oidc_verifications_total',
  type: 'counter',
  labels: ['outcome'],
  help: 'Verifications of JSON Web Tokens, by outcome: valid, invalid, or unavailable (the keys of the issuer are not known). A token that was verified recently is not verified again.',
} as const;

const FETCHES = {
  name: 'portico_oidc_key_fetches_total',
  type: 'counter',
  labels: ['issuer', 'outcome'],
  help: 'Fetches of the keys of an OpenID Connect issuer, by outcome: fetched or failed.',
} as const;

/** The metrics of OpenID Connect. */
export const OIDC_METRICS = [VERIFICATIONS, FETCHES] as const;

/** What is counted. */
export interface OidcCounts {
  readonly verified: (outcome: 'valid' | 'invalid' | 'unavailable') => void;
  readonly fetched: (issuer: string, outcome: 'fetched' | 'failed') => void;
}

/** Registers what is counted for these issuers. */
export const registerOidcMetrics = (metrics: FeatureMetrics, issuers: readonly string[]): OidcCounts => ({
  verified: metrics.counter(VERIFICATIONS, [['valid', 'invalid', 'unavailable']]),
  fetched: metrics.counter(FETCHES, [issuers, ['fetched', 'failed']]),
});

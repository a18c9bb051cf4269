import type { Settings } from '../../engine/config/settings.ts';
import { LISTEN_DEFAULTS } from '../../engine/config/general-options.ts';
import { IDENTITY_DEFAULTS } from '../../engine/identity/identity-options.ts';
import { UPSTREAM_DEFAULTS } from '../../engine/upstream/upstream-options.ts';
import { type AuditRule, foundIf } from './audit-rule.ts';

/** A limit is reported if it exceeds this multiple of its default. */
const FAR_ABOVE = 16;

/** Rules about clients that use too many connections or too much memory. */
export const OVERLOAD_RULES: readonly AuditRule[] = [
  {
    id: 'slow-clients-hold-connections',
    severity: 'low',
    key: '/listen/requestTimeoutSeconds',
    risk: 'A few clients that send very slowly can occupy all connections.',
    fix: 'Use at most 300 seconds for a request and 60 for its headers.',
    find: ({ settings: { listen } }) => [
      ...foundIf(listen.requestTimeoutSeconds > 300, `requestTimeoutSeconds: ${listen.requestTimeoutSeconds}`),
      ...foundIf(listen.headersTimeoutSeconds > 60, `headersTimeoutSeconds: ${listen.headersTimeoutSeconds}`),
    ],
  },
  {
    id: 'limits-far-above-defaults',
    severity: 'medium',
    key: '/upstream/concurrency',
    risk: 'Clients can exhaust Portico’s memory, or send the upstream more requests than it can handle.',
    fix: 'Use the smallest limits that your clients need; portico doctor measures the concurrency.',
    find: ({ settings }) =>
      limitsOf(settings)
        .filter(({ value, standard }) => value > standard * FAR_ABOVE)
        .map(({ key, value, standard }) => `${key}: ${value} (default ${standard})`),
  },
];

const limit = (key: string, value: number, standard: number) => ({ key, value, standard });

/** Returns the limits that protect memory and the upstream, each with its default. */
function limitsOf({ listen, upstream, authentication }: Settings) {
  return [
    limit('listen.maxBodyBytes', listen.maxBodyBytes, LISTEN_DEFAULTS.maxBodyBytes),
    limit('listen.maxJsonValues', listen.maxJsonValues, LISTEN_DEFAULTS.maxJsonValues),
    limit('upstream.concurrency', upstream.concurrency, UPSTREAM_DEFAULTS.concurrency),
    limit('upstream.queue', upstream.queue, UPSTREAM_DEFAULTS.queue),
    limit('upstream.queueTimeoutMs', upstream.queueTimeoutMs, UPSTREAM_DEFAULTS.queueTimeoutMs),
    limit('upstream.maxResponseBytes', upstream.maxResponseBytes, UPSTREAM_DEFAULTS.maxResponseBytes),
    limit('upstream.maxJsonValues', upstream.maxJsonValues, UPSTREAM_DEFAULTS.maxJsonValues),
    limit('upstream.streams.total', upstream.streams.total, UPSTREAM_DEFAULTS.streams.total),
    limit(
      'authentication.hashing.concurrency',
      authentication.hashing.concurrency,
      IDENTITY_DEFAULTS.hashing.concurrency,
    ),
  ];
}

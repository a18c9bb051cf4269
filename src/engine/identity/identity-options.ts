import type { VerifierOptions } from './verifier.ts';
import { VERIFIER_NAMES, type VerifierName } from './verifiers.ts';

/** The options under the `authentication` configuration key, including all defaults. */
export interface IdentityOptions extends VerifierOptions {
  /**
   * `file` checks credentials against the hashes in the roles file. `upstream` checks them by sending a probe to the
   * upstream.
   */
  readonly verifier: VerifierName;
  /** Whether a request without a credential is refused or treated as anonymous. */
  readonly anonymous: 'deny' | 'allow';
  /** The realm of the authentication challenge. */
  readonly realm: string;
  /** How long a verified credential is accepted before it must be verified again, in seconds. */
  readonly cacheSeconds: number;
  /** The maximum number of verified credentials in the cache. */
  readonly cacheEntries: number;
  /**
   * The limits on failed attempts. For each combination of a name and a network (an IPv4 address or an IPv6 /64
   * prefix), at most `limit` attempts may fail within `windowSeconds`. At most `maxPairs` combinations are stored, of
   * which a single network can use at most 1/32. In the same window, at most `limitPerName` attempts may fail per name,
   * counted across all networks. This second limit does not apply to networks from which a login with the name
   * succeeded within `trustSeconds`.
   */
  readonly failures: {
    readonly limit: number;
    readonly windowSeconds: number;
    readonly limitPerName: number;
    readonly trustSeconds: number;
    readonly maxPairs: number;
  };
}

/** The defaults for all options. */
export const IDENTITY_DEFAULTS: IdentityOptions = {
  verifier: 'file',
  anonymous: 'deny',
  realm: 'Portico',
  cacheSeconds: 60,
  cacheEntries: 10_000,
  failures: { limit: 10, windowSeconds: 60, limitPerName: 100, trustSeconds: 86_400, maxPairs: 10_000 },
  hashing: { concurrency: 2, queue: 64 },
  probe: {
    // The profile of the API has the default.
    path: '/',
    validStatuses: [200, 400, 404],
    timeoutMs: 5000,
    concurrency: 8,
    queue: 64,
  },
  calibrationSeconds: 300,
};

const count = (description: string, standard: number, minimum = 1, maximum = 1_000_000) => ({
  description,
  type: 'integer',
  minimum,
  maximum,
  default: standard,
});

/** The JSON Schema for the `authentication` configuration key. Its defaults serve only as documentation. */
export const identityOptionsSchema = {
  description: 'How credentials are verified, cached and rate-limited.',
  type: 'object',
  additionalProperties: false,
  properties: {
    verifier: {
      description:
        'How credentials are verified: with the password hashes of the roles file (`file`), or with a probe request to the upstream (`upstream`).',
      enum: VERIFIER_NAMES,
    },
    anonymous: {
      description:
        'Whether requests without a credential are refused with a 401 (`deny`) or get the role `anonymous` (`allow`).',
      enum: ['deny', 'allow'],
      default: IDENTITY_DEFAULTS.anonymous,
    },
    realm: {
      description: 'The realm in the authentication challenge.',
      type: 'string',
      pattern: '^[ !#-\\[\\]-~]{1,100}$',
      default: IDENTITY_DEFAULTS.realm,
    },
    cacheSeconds: count(
      'How long a verified credential is not verified again.',
      IDENTITY_DEFAULTS.cacheSeconds,
      0,
      3600,
    ),
    cacheEntries: count('Maximum number of verified credentials in memory.', IDENTITY_DEFAULTS.cacheEntries),
    failures: {
      description:
        'Limits on failed attempts per combination of client address (per /64 for IPv6) and user name; further attempts are refused with a 429.',
      type: 'object',
      additionalProperties: false,
      properties: {
        limit: count('Maximum number of failed attempts within the window.', IDENTITY_DEFAULTS.failures.limit, 1, 1000),
        windowSeconds: count('Length of the window.', IDENTITY_DEFAULTS.failures.windowSeconds, 1, 86_400),
        limitPerName: count(
          'Maximum number of failed attempts per user name within the window, from all addresses together. Beyond that, addresses that have not logged in with the name within `trustSeconds` are refused.',
          IDENTITY_DEFAULTS.failures.limitPerName,
          1,
          10_000,
        ),
        trustSeconds: count(
          'How long after a login `limitPerName` does not apply to the same address and name, so that an attack does not lock out the user.',
          IDENTITY_DEFAULTS.failures.trustSeconds,
          0,
          2_592_000,
        ),
        maxPairs: count(
          'Maximum number of combinations in memory; one client address may use 1/32 of them and is refused with a 429 beyond that.',
          IDENTITY_DEFAULTS.failures.maxPairs,
        ),
      },
    },
    hashing: {
      description:
        'Limits on concurrent password hashing (verifier file); if the queue is full, further attempts are refused with a 429.',
      type: 'object',
      additionalProperties: false,
      properties: {
        concurrency: count(
          'Maximum number of hashes computed concurrently; each takes about 19 MiB.',
          IDENTITY_DEFAULTS.hashing.concurrency,
          1,
          64,
        ),
        queue: count('Maximum number of attempts waiting for a hash.', IDENTITY_DEFAULTS.hashing.queue, 0, 10_000),
      },
    },
    probe: {
      description: 'The request that shows whether the upstream accepts a credential (verifier upstream).',
      type: 'object',
      additionalProperties: false,
      properties: {
        path: {
          description: 'A path that requires a valid credential but no permission.',
          type: 'string',
          pattern: '^/[!-~]*$',
        },
        validStatuses: {
          description: 'The statuses that mean that the credential is valid; any other status means that it is not.',
          type: 'array',
          minItems: 1,
          uniqueItems: true,
          items: { type: 'integer', minimum: 200, maximum: 499, not: { enum: [401, 403, 407, 408, 429] } },
          default: IDENTITY_DEFAULTS.probe.validStatuses,
        },
        timeoutMs: count('Timeout of a probe.', IDENTITY_DEFAULTS.probe.timeoutMs, 1, 120_000),
        concurrency: count('Maximum number of concurrent probes.', IDENTITY_DEFAULTS.probe.concurrency, 1, 1000),
        queue: count('Maximum number of attempts waiting for a probe.', IDENTITY_DEFAULTS.probe.queue, 0, 10_000),
      },
    },
    calibrationSeconds: count(
      'Interval at which the probe is tested with a wrong credential.',
      IDENTITY_DEFAULTS.calibrationSeconds,
      1,
      86_400,
    ),
  },
} as const;

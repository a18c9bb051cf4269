import { IDENTITY_DEFAULTS as DEFAULTS } from './identity-options.ts';

const count = (description: string, standard: number, minimum = 1, maximum = 1_000_000) => ({
  description,
  type: 'integer',
  minimum,
  maximum,
  default: standard,
});

/** The JSON Schema of the key `authentication:`; defaults are told, not filled in. */
export const identityOptionsSchema = {
  description: 'Who is asking: how credentials are verified, remembered and limited.',
  type: 'object',
  additionalProperties: false,
  properties: {
    verifier: {
      description:
        'file: the password hashes of the roles file; upstream: a probe of the upstream. The default is file with the embedded upstream and upstream with a real one.',
      enum: ['file', 'upstream'],
    },
    anonymous: {
      description: 'Whether requests without a credential are refused (401) or are those of an anonymous caller.',
      enum: ['deny', 'allow'],
      default: DEFAULTS.anonymous,
    },
    realm: {
      description: 'The realm that the challenge names.',
      type: 'string',
      pattern: '^[ !#-\\[\\]-~]{1,100}$',
      default: DEFAULTS.realm,
    },
    cacheSeconds: count('How long a verified credential is believed, in seconds.', DEFAULTS.cacheSeconds, 0, 3600),
    cacheEntries: count('How many verified credentials are remembered.', DEFAULTS.cacheEntries),
    failures: {
      description:
        'Failed attempts allowed per pair of client address (of IPv6 the /64) and name; more are answered 429.',
      type: 'object',
      additionalProperties: false,
      properties: {
        limit: count('Failed attempts within the window.', DEFAULTS.failures.limit, 1, 1000),
        windowSeconds: count('The window, in seconds.', DEFAULTS.failures.windowSeconds, 1, 86_400),
        maxPairs: count(
          'How many pairs are remembered; one client address may fill one part in 32, and is answered 429 beyond.',
          DEFAULTS.failures.maxPairs,
        ),
      },
    },
    hashing: {
      description: 'Password hashing at one time (verifier file); what finds the queue full is answered 429.',
      type: 'object',
      additionalProperties: false,
      properties: {
        concurrency: count(
          'Hashes computed at one time; each takes about 19 MiB.',
          DEFAULTS.hashing.concurrency,
          1,
          64,
        ),
        queue: count('Attempts that may wait.', DEFAULTS.hashing.queue, 0, 10_000),
      },
    },
    probe: {
      description: 'The request that tells whether the upstream knows a credential (verifier upstream).',
      type: 'object',
      additionalProperties: false,
      properties: {
        path: {
          description: 'A path that needs a valid credential and no permission.',
          type: 'string',
          pattern: '^/[!-~]*$',
          default: DEFAULTS.probe.path,
        },
        validStatuses: {
          description: 'Statuses that mean a valid credential; every other one does not.',
          type: 'array',
          minItems: 1,
          uniqueItems: true,
          items: { type: 'integer', minimum: 200, maximum: 499, not: { enum: [401, 403, 407, 408, 429] } },
          default: DEFAULTS.probe.validStatuses,
        },
        timeoutMs: count('How long a probe may take, in milliseconds.', DEFAULTS.probe.timeoutMs, 1, 120_000),
        concurrency: count('Probes at one time.', DEFAULTS.probe.concurrency, 1, 1000),
        queue: count('Attempts that may wait for a probe.', DEFAULTS.probe.queue, 0, 10_000),
      },
    },
    calibrationSeconds: count(
      'How often the probe is tried with a wrong credential, in seconds.',
      DEFAULTS.calibrationSeconds,
      1,
      86_400,
    ),
  },
} as const;

/** What `authentication:` in the configuration says, with every default filled in. */
export interface IdentityOptions {
  /** `file` checks the hashes of the roles file, `upstream` asks the upstream with a probe. */
  readonly verifier: 'file' | 'upstream';
  /** Whether a request without a credential is refused or is an anonymous caller's. */
  readonly anonymous: 'deny' | 'allow';
  /** The realm of the challenge. */
  readonly realm: string;
  /** How long a verified credential is believed without asking again. */
  readonly cacheSeconds: number;
  /** How many verified credentials are remembered. */
  readonly cacheEntries: number;
  /**
   * Failed attempts per pair of network (an IPv4 address, the /64 of an IPv6 address) and name: `limit` in
   * `windowSeconds`. `maxPairs` bounds the memory, of which one network may fill one part in 32.
   */
  readonly failures: { readonly limit: number; readonly windowSeconds: number; readonly maxPairs: number };
  /** Password hashing at one time, and how many attempts may wait for it. */
  readonly hashing: WorkBounds;
  /** The request that tells whether the upstream knows a credential. */
  readonly probe: ProbeOptions;
  /** How often the probe is tried with a wrong credential. */
  readonly calibrationSeconds: number;
}

/** How much work runs at one time and how much may wait. */
export interface WorkBounds {
  readonly concurrency: number;
  readonly queue: number;
}

/** The probe of the upstream verifier. */
export interface ProbeOptions extends WorkBounds {
  readonly path: string;
  /** The statuses that mean a valid credential; nothing else does. */
  readonly validStatuses: readonly number[];
  readonly timeoutMs: number;
}

/** What holds where the configuration says nothing. */
export const IDENTITY_DEFAULTS: IdentityOptions = {
  verifier: 'file',
  anonymous: 'deny',
  realm: 'Portico',
  cacheSeconds: 60,
  cacheEntries: 10_000,
  failures: { limit: 10, windowSeconds: 60, maxPairs: 10_000 },
  hashing: { concurrency: 2, queue: 64 },
  probe: {
    path: '/services/v2/jobs/gdpr/0.json',
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
      default: IDENTITY_DEFAULTS.anonymous,
    },
    realm: {
      description: 'The realm that the challenge names.',
      type: 'string',
      pattern: '^[ !#-\\[\\]-~]{1,100}$',
      default: IDENTITY_DEFAULTS.realm,
    },
    cacheSeconds: count(
      'How long a verified credential is believed, in seconds.',
      IDENTITY_DEFAULTS.cacheSeconds,
      0,
      3600,
    ),
    cacheEntries: count('How many verified credentials are remembered.', IDENTITY_DEFAULTS.cacheEntries),
    failures: {
      description:
        'Failed attempts allowed per pair of client address (of IPv6 the /64) and name; more are answered 429.',
      type: 'object',
      additionalProperties: false,
      properties: {
        limit: count('Failed attempts within the window.', IDENTITY_DEFAULTS.failures.limit, 1, 1000),
        windowSeconds: count('The window, in seconds.', IDENTITY_DEFAULTS.failures.windowSeconds, 1, 86_400),
        maxPairs: count(
          'How many pairs are remembered; one client address may fill one part in 32, and is answered 429 beyond.',
          IDENTITY_DEFAULTS.failures.maxPairs,
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
          IDENTITY_DEFAULTS.hashing.concurrency,
          1,
          64,
        ),
        queue: count('Attempts that may wait.', IDENTITY_DEFAULTS.hashing.queue, 0, 10_000),
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
          default: IDENTITY_DEFAULTS.probe.path,
        },
        validStatuses: {
          description: 'Statuses that mean a valid credential; every other one does not.',
          type: 'array',
          minItems: 1,
          uniqueItems: true,
          items: { type: 'integer', minimum: 200, maximum: 499, not: { enum: [401, 403, 407, 408, 429] } },
          default: IDENTITY_DEFAULTS.probe.validStatuses,
        },
        timeoutMs: count('How long a probe may take, in milliseconds.', IDENTITY_DEFAULTS.probe.timeoutMs, 1, 120_000),
        concurrency: count('Probes at one time.', IDENTITY_DEFAULTS.probe.concurrency, 1, 1000),
        queue: count('Attempts that may wait for a probe.', IDENTITY_DEFAULTS.probe.queue, 0, 10_000),
      },
    },
    calibrationSeconds: count(
      'How often the probe is tried with a wrong credential, in seconds.',
      IDENTITY_DEFAULTS.calibrationSeconds,
      1,
      86_400,
    ),
  },
} as const;

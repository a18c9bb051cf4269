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
   * Failed attempts per pair of network (an IPv4 address, the /64 of an IPv6 address) and name: `limit` in `windowSeconds`.
   * `maxPairs` bounds the memory, of which one network may fill one part in 32.
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

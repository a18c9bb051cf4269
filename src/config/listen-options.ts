/** The configuration key `listen:`: both listeners, their limits and the drain. */
export interface ListenOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly adminHost: string;
  /** 0 takes any free port. */
  readonly adminPort: number;
  /** Addresses or networks whose forwarding headers are believed. */
  readonly trustedProxies: readonly string[];
  /** Longer than a balancer's idle timeout, which often is 60 s. */
  readonly keepAliveSeconds: number;
  /** For a whole request to come in. */
  readonly requestTimeoutSeconds: number;
  /** For the head of a request to come in. */
  readonly headersTimeoutSeconds: number;
  readonly maxTargetBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxBodyBytes: number;
  /** Objects and arrays of a JSON body inside one another. */
  readonly maxJsonDepth: number;
  /** Members and elements of a JSON body, at all levels together. */
  readonly maxJsonValues: number;
  /** How long the process still listens after SIGTERM while it is not ready, for balancers to notice. */
  readonly lameDuckSeconds: number;
  /** How long requests in flight may finish after that. */
  readonly drainSeconds: number;
}

/** What holds where `listen:` says nothing. */
export const LISTEN_DEFAULTS: ListenOptions = {
  host: '127.0.0.1',
  port: 8080,
  adminHost: '127.0.0.1',
  adminPort: 8081,
  trustedProxies: [],
  keepAliveSeconds: 75,
  requestTimeoutSeconds: 60,
  headersTimeoutSeconds: 20,
  maxTargetBytes: 8192,
  maxHeaderBytes: 16_384,
  maxBodyBytes: 1_048_576,
  maxJsonDepth: 64,
  maxJsonValues: 10_000,
  lameDuckSeconds: 5,
  drainSeconds: 10,
};

const port = { type: 'integer', minimum: 0, maximum: 65_535 };
const host = { type: 'string', minLength: 1 };
const seconds = { type: 'number', exclusiveMinimum: 0, maximum: 3600 };

/** JSON Schema of the configuration key `listen:`. */
export const listenOptionsSchema = {
  type: 'object',
  description: 'Where Portico listens, and the limits of what comes in.',
  additionalProperties: false,
  properties: {
    host: { ...host, description: 'Public side; HOST.' },
    port: { ...port, description: 'Public side; PORT. 0 takes any free port.' },
    adminHost: { ...host, description: 'Admin side; ADMIN_HOST. Keep it on loopback or give an adminToken.' },
    adminPort: { ...port, description: 'Admin side; ADMIN_PORT. 0 takes any free port.' },
    trustedProxies: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Addresses, networks (10.0.0.0/8) or loopback, linklocal, uniquelocal.',
    },
    keepAliveSeconds: { ...seconds, description: "Longer than your balancer's idle timeout." },
    requestTimeoutSeconds: { ...seconds, description: 'For a whole request to come in.' },
    headersTimeoutSeconds: { ...seconds, description: 'For the head of a request to come in.' },
    maxTargetBytes: { type: 'integer', minimum: 256, maximum: 65_536, description: 'Longer targets get 414.' },
    maxHeaderBytes: { type: 'integer', minimum: 1024, maximum: 131_072, description: 'Larger heads get 431.' },
    maxBodyBytes: { type: 'integer', minimum: 1024, maximum: 268_435_456, description: 'Larger bodies get 413.' },
    maxJsonDepth: {
      type: 'integer',
      minimum: 8,
      maximum: 256,
      description: 'JSON bodies nested deeper are not parsed; they get 400 where requests are enforced.',
    },
    maxJsonValues: {
      type: 'integer',
      minimum: 100,
      maximum: 10_000_000,
      description:
        'JSON bodies with more members and elements are not parsed; they get 400 where requests are enforced.',
    },
    lameDuckSeconds: {
      type: 'number',
      minimum: 0,
      maximum: 3600,
      description: 'How long Portico still listens after SIGTERM, not ready.',
    },
    drainSeconds: { ...seconds, description: 'How long requests in flight may finish after that, or after SIGINT.' },
  },
};

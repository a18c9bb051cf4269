/** The configuration key `listen:`: both listeners, their limits and the drain. */
export interface ListenOptions {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  readonly adminHost: string;
  /** 0 selects any free port. */
  readonly adminPort: number;
  /** Addresses or networks whose forwarding headers are trusted. */
  readonly trustedProxies: readonly string[];
  /** Longer than the idle timeout of the load balancer, which is often 60 s. */
  readonly keepAliveSeconds: number;
  /** The timeout for receiving a complete request. */
  readonly requestTimeoutSeconds: number;
  /** The timeout for receiving the headers of a request. */
  readonly headersTimeoutSeconds: number;
  readonly maxTargetBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxBodyBytes: number;
  /** The maximum nesting of objects and arrays in a JSON body. */
  readonly maxJsonDepth: number;
  /** The maximum number of members and elements in a JSON body, at all levels together. */
  readonly maxJsonValues: number;
  /** How long the process continues to listen after SIGTERM while not ready, so that load balancers notice. */
  readonly lameDuckSeconds: number;
  /** How long requests in flight may finish after that. */
  readonly drainSeconds: number;
}

/** The defaults of `listen:`. */
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
  description: 'The listeners of Portico and the limits for requests.',
  additionalProperties: false,
  properties: {
    host: { ...host, description: 'Public side; HOST.' },
    port: { ...port, description: 'Public side; PORT. 0 selects any free port.' },
    adminHost: { ...host, description: 'Admin side; ADMIN_HOST. Use loopback or set an adminToken.' },
    adminPort: { ...port, description: 'Admin side; ADMIN_PORT. 0 selects any free port.' },
    trustedProxies: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Addresses, networks (10.0.0.0/8) or loopback, linklocal, uniquelocal.',
    },
    keepAliveSeconds: { ...seconds, description: 'Must be longer than the idle timeout of the load balancer.' },
    requestTimeoutSeconds: { ...seconds, description: 'Timeout for receiving a complete request.' },
    headersTimeoutSeconds: { ...seconds, description: 'Timeout for receiving the headers of a request.' },
    maxTargetBytes: { type: 'integer', minimum: 256, maximum: 65_536, description: 'Longer targets get 414.' },
    maxHeaderBytes: { type: 'integer', minimum: 1024, maximum: 131_072, description: 'Larger heads get 431.' },
    maxBodyBytes: { type: 'integer', minimum: 1024, maximum: 268_435_456, description: 'Larger bodies get 413.' },
    maxJsonDepth: {
      type: 'integer',
      minimum: 8,
      maximum: 256,
      description: 'JSON bodies with deeper nesting are not parsed; they get 400 if requests are enforced.',
    },
    maxJsonValues: {
      type: 'integer',
      minimum: 100,
      maximum: 10_000_000,
      description: 'JSON bodies with more members and elements are not parsed; they get 400 if requests are enforced.',
    },
    lameDuckSeconds: {
      type: 'number',
      minimum: 0,
      maximum: 3600,
      description: 'How long Portico continues to listen after SIGTERM while not ready.',
    },
    drainSeconds: { ...seconds, description: 'How long requests in flight may finish after that, or after SIGINT.' },
  },
};

import { CHECK_LEVELS, CHECKS, type ErrorStyle, forEachCheck } from '../model/checks.ts';

/** An entry in `undocumented.allow`: an undocumented path to forward. */
export interface AllowedPath {
  readonly method: string;
  /**
   * The path below the base address. `{name}` matches any single segment. `/**` at the end matches everything below the
   * preceding path.
   */
  readonly path: string;
  /** The permission that the caller must have. */
  readonly permission?: string;
}

/** The JSON Schema for check levels, which can be set globally and for individual operations. */
export const checksSchema = {
  type: 'object',
  description: 'Check levels that override the mode: off, report or enforce.',
  additionalProperties: false,
  properties: forEachCheck((name) => ({ enum: CHECK_LEVELS, description: CHECKS[name].examines })),
};

/** The JSON Schema for the error style, which can be set globally and for individual operations. */
export const errorsSchema = {
  enum: ['legacy', 'normalized'] satisfies ErrorStyle[],
  description:
    "The format of error responses: the upstream's, unchanged (`legacy`), or Portico's (`normalized`); see docs/errors.md.",
};

/** Returns the JSON Schema for the `undocumented` configuration key of an API with the given base path. */
export const undocumentedSchema = (basePath: string) => ({
  type: 'object',
  additionalProperties: false,
  properties: {
    allow: {
      type: 'array',
      description: 'Undocumented requests to forward.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['method', 'path'],
        properties: {
          method: {
            enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', '*'],
            description: 'The method, or `*` for all.',
          },
          path: {
            type: 'string',
            pattern: `^${RegExp.escape(basePath)}[^?#\\s]+$`,
            description: `A path under ${basePath}. \`{name}\` matches one segment, and a trailing \`/**\` everything below.`,
          },
          permission: { type: 'string', minLength: 1, description: 'The permission that the caller must have.' },
        },
      },
    },
  },
});

/**
 * The `listen.tls` configuration key. If it is set, the public side accepts only TLS connections. Paths are absolute.
 */
export interface TlsOptions {
  /** The certificate and its intermediate certificates, in PEM format. */
  readonly certFile: string;
  readonly keyFile: string;
  /** A file that contains the key's passphrase. */
  readonly passphraseFile?: string;
  /** The certificate authorities that issue client certificates, in PEM format. */
  readonly clientCaFile?: string;
  /** Whether clients are asked for a certificate, and whether those without one are refused. */
  readonly clientCertificates: 'none' | 'optional' | 'required';
  readonly minVersion: '1.2' | '1.3';
  /** The time limit for the TLS handshake, in seconds. */
  readonly handshakeTimeoutSeconds: number;
}

/** The defaults for the `listen.tls` configuration key. */
export const TLS_DEFAULTS = {
  clientCertificates: 'none',
  minVersion: '1.2',
  handshakeTimeoutSeconds: 10,
} as const satisfies Partial<TlsOptions>;

/** The `listen` configuration key, which configures both listeners, their limits and the shutdown. */
export interface ListenOptions {
  readonly host: string;
  /** The public side's port. 0 selects any free port. */
  readonly port: number;
  readonly adminHost: string;
  /** The admin side's port. 0 selects any free port. */
  readonly adminPort: number;
  /** Whether other processes of this machine may listen on the public port, too. */
  readonly reusePort: boolean;
  /** The addresses or networks of the proxies whose forwarding headers are trusted. */
  readonly trustedProxies: readonly string[];
  /**
   * How long idle client connections stay open, in seconds. This time should exceed the load balancer's idle timeout,
   * which is often 60 seconds.
   */
  readonly keepAliveSeconds: number;
  /** The time limit for receiving a complete request, in seconds. */
  readonly requestTimeoutSeconds: number;
  /** The time limit for receiving a request's headers, in seconds. */
  readonly headersTimeoutSeconds: number;
  readonly maxTargetBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxBodyBytes: number;
  /** The maximum nesting depth of objects and arrays in a JSON body. */
  readonly maxJsonDepth: number;
  /** The maximum total number of members and elements in a JSON body. */
  readonly maxJsonValues: number;
  /**
   * How long the process continues to accept requests after SIGTERM, in seconds. During this time, it reports that it
   * is not ready, so that load balancers stop sending it requests.
   */
  readonly lameDuckSeconds: number;
  /** The time limit for requests still in progress after `lameDuckSeconds`, in seconds. */
  readonly drainSeconds: number;
  /** The certificate and other TLS settings. Undefined if the public side does not use TLS. */
  readonly tls?: TlsOptions;
}

const text = { type: 'string', minLength: 1 };

const port = { type: 'integer', minimum: 0, maximum: 65_535 };

/** The defaults for the `listen` configuration key. */
export const LISTEN_DEFAULTS: ListenOptions = {
  host: '127.0.0.1',
  port: 8080,
  adminHost: '127.0.0.1',
  adminPort: 8081,
  reusePort: false,
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

const seconds = { type: 'number', exclusiveMinimum: 0, maximum: 3600 };

/** The JSON Schema for the `listen` configuration key. */
export const listenOptionsSchema = {
  type: 'object',
  description: "Portico's listeners, and the limits on requests.",
  additionalProperties: false,
  properties: {
    host: { ...text, description: 'Address of the public side.' },
    port: { ...port, description: 'Port of the public side; 0 selects any free port.' },
    adminHost: {
      ...text,
      description: 'Address of the admin side. If it is not a loopback address, set `adminToken`.',
    },
    adminPort: { ...port, description: 'Port of the admin side; 0 selects any free port.' },
    trustedProxies: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description:
        'Proxies whose forwarding headers are trusted: addresses, networks (10.0.0.0/8), or `loopback`, `linklocal`, `uniquelocal`.',
    },
    reusePort: {
      type: 'boolean',
      description:
        'Whether several processes of this machine listen on the public port (Linux, FreeBSD, Solaris, AIX); see docs/deployment.md#several-processes-on-one-port.',
    },
    keepAliveSeconds: {
      ...seconds,
      description:
        "Idle time before a client connection is closed; must be longer than the load balancer's idle timeout.",
    },
    requestTimeoutSeconds: { ...seconds, description: 'Timeout for receiving a complete request.' },
    headersTimeoutSeconds: { ...seconds, description: 'Timeout for receiving the headers of a request.' },
    maxTargetBytes: {
      type: 'integer',
      minimum: 256,
      maximum: 65_536,
      description: 'Maximum length of a request target; longer ones are refused with a 414.',
    },
    maxHeaderBytes: {
      type: 'integer',
      minimum: 1024,
      maximum: 131_072,
      description: 'Maximum size of a request head; larger ones are refused with a 431.',
    },
    maxBodyBytes: {
      type: 'integer',
      minimum: 1024,
      maximum: 268_435_456,
      description: 'Maximum size of a request body; larger ones are refused with a 413.',
    },
    maxJsonDepth: {
      type: 'integer',
      minimum: 8,
      maximum: 256,
      description:
        'Maximum nesting depth of request bodies. Deeper ones are not parsed: a 400 if `requests` is enforced, a violation otherwise.',
    },
    maxJsonValues: {
      type: 'integer',
      minimum: 100,
      maximum: 10_000_000,
      description:
        'Maximum number of members and elements in a request body, at all levels together. Bodies with more are not parsed: a 400 if `requests` is enforced, a violation otherwise.',
    },
    lameDuckSeconds: {
      type: 'number',
      minimum: 0,
      maximum: 3600,
      description: 'How long Portico continues to listen after SIGTERM, although it reports that it is not ready.',
    },
    tls: {
      type: 'object',
      description:
        'TLS on the public side, which then accepts nothing else; see docs/operations.md#tls. Paths are relative to the configuration file.',
      additionalProperties: false,
      required: ['certFile', 'keyFile'],
      properties: {
        certFile: { ...text, description: 'The certificate and its intermediate certificates (PEM).' },
        keyFile: { ...text, description: 'The private key of the certificate (PEM).' },
        passphraseFile: { ...text, description: 'File whose first line is the passphrase of the key.' },
        clientCaFile: { ...text, description: 'The authorities that issue client certificates (PEM).' },
        clientCertificates: {
          enum: ['none', 'optional', 'required'] satisfies TlsOptions['clientCertificates'][],
          default: TLS_DEFAULTS.clientCertificates,
          description:
            'Whether clients are asked for a certificate (`optional`), and whether those without one are refused (`required`).',
        },
        minVersion: {
          enum: ['1.2', '1.3', 1.2, 1.3],
          default: TLS_DEFAULTS.minVersion,
          description: 'The oldest TLS version that is accepted.',
        },
        handshakeTimeoutSeconds: {
          ...seconds,
          default: TLS_DEFAULTS.handshakeTimeoutSeconds,
          description: 'Timeout for the handshake of a connection.',
        },
      },
    },
    drainSeconds: {
      ...seconds,
      description: 'How long requests in flight have to finish after `lameDuckSeconds`, or after SIGINT.',
    },
  },
};

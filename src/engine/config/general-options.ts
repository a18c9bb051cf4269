import { CHECK_NAMES, type CheckLevel, type CheckName, type ErrorStyle } from '../model/checks.ts';

/**
 * The `reference` configuration key, which configures the embedded upstream. The embedded upstream is used when
 * `upstream.url` is not set.
 */
export interface ReferenceOptions {
  /** The path of the database file, or `:memory:`. */
  readonly db: string;
  readonly seed: number;
  /** True if the list items returned by the reference server have all expected fields. */
  readonly complete: boolean;
  /** The reference server's chaos rules. */
  readonly faults: readonly string[];
  /** The base URL of an issue tracker. By default, the embedded tracker is used. */
  readonly issueTrackerUrl?: string;
}

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

const level = { enum: ['off', 'report', 'enforce'] satisfies CheckLevel[] };

/** The JSON Schema for check levels, which can be set globally and for individual operations. */
export const checksSchema = {
  type: 'object',
  description: 'Check levels that override the mode: off, report or enforce.',
  additionalProperties: false,
  properties: Object.fromEntries(CHECK_NAMES.map((name) => [name, level])) as Record<CheckName, typeof level>,
};

/** The JSON Schema for the error style, which can be set globally and for individual operations. */
export const errorsSchema = {
  enum: ['legacy', 'normalized'] satisfies ErrorStyle[],
  description: "Whether error responses have the upstream's format (legacy) or Portico's (normalized).",
};

/** The JSON Schema for the `reference` configuration key. */
export const referenceSchema = {
  type: 'object',
  description: 'The reference server, which is used if upstream.url is not set.',
  additionalProperties: false,
  properties: {
    db: { type: 'string', minLength: 1, description: 'Path of the database, or :memory:.' },
    seed: { type: 'integer', minimum: 0, maximum: 4_294_967_295 },
    complete: {
      type: 'boolean',
      description: 'Whether all list items have the fields that the contract expects; otherwise, a few lack one.',
    },
    issueTrackerUrl: {
      type: 'string',
      pattern: '^https?://[^\\s?#]+$',
      description: 'Base URL of an issue tracker, http or https; an embedded tracker is used by default.',
    },
    faults: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Chaos rules, as for the flag --fault.',
    },
  },
};

/** Returns the JSON Schema for the `undocumented` configuration key of an API with the given base path. */
export const undocumentedSchema = (basePath: string) => ({
  type: 'object',
  additionalProperties: false,
  properties: {
    allow: {
      type: 'array',
      description: 'Undocumented paths to forward; unsafe methods always require an entry.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['method', 'path'],
        properties: {
          method: { enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', '*'] },
          path: {
            type: 'string',
            pattern: `^${RegExp.escape(basePath)}[^?#\\s]+$`,
            description: `A path under ${basePath}; {name} matches one segment, and a trailing /** everything below.`,
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
    host: { ...text, description: 'Address of the public side; HOST.' },
    port: { ...port, description: 'Port of the public side; PORT. 0 selects any free port.' },
    adminHost: { ...text, description: 'Address of the admin side; ADMIN_HOST. Use loopback, or set an adminToken.' },
    adminPort: { ...port, description: 'Port of the admin side; ADMIN_PORT. 0 selects any free port.' },
    trustedProxies: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description:
        'Proxies whose forwarding headers are trusted: addresses, networks (10.0.0.0/8), or loopback, linklocal, uniquelocal.',
    },
    reusePort: {
      type: 'boolean',
      description:
        'Whether several processes of this machine listen on the public port; the operating system divides the connections among them (Linux, FreeBSD, Solaris, AIX).',
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
      description: 'Maximum length of a request target; longer ones get a 414.',
    },
    maxHeaderBytes: {
      type: 'integer',
      minimum: 1024,
      maximum: 131_072,
      description: 'Maximum size of a request head; larger ones get a 431.',
    },
    maxBodyBytes: {
      type: 'integer',
      minimum: 1024,
      maximum: 268_435_456,
      description: 'Maximum size of a request body; larger ones get a 413.',
    },
    maxJsonDepth: {
      type: 'integer',
      minimum: 8,
      maximum: 256,
      description:
        'Maximum nesting depth of JSON bodies; deeper ones are not parsed and get a 400 if requests are enforced.',
    },
    maxJsonValues: {
      type: 'integer',
      minimum: 100,
      maximum: 10_000_000,
      description:
        'Maximum number of members and elements; JSON bodies with more are not parsed and get a 400 if requests are enforced.',
    },
    lameDuckSeconds: {
      type: 'number',
      minimum: 0,
      maximum: 3600,
      description: 'How long Portico continues to listen after SIGTERM, although it is no longer ready.',
    },
    tls: {
      type: 'object',
      description: 'TLS on the public side, which uses plain HTTP by default.',
      additionalProperties: false,
      required: ['certFile', 'keyFile'],
      properties: {
        certFile: { ...text, description: 'The certificate and its intermediate certificates (PEM).' },
        keyFile: { ...text, description: 'The private key of the certificate (PEM).' },
        passphraseFile: { ...text, description: 'A file whose first line is the passphrase of the key.' },
        clientCaFile: { ...text, description: 'The authorities that issue client certificates (PEM).' },
        clientCertificates: {
          enum: ['none', 'optional', 'required'] satisfies TlsOptions['clientCertificates'][],
          description: 'Whether clients are asked for a certificate, and whether those without one are refused.',
        },
        minVersion: { enum: ['1.2', '1.3', 1.2, 1.3], description: 'The oldest TLS version that is accepted.' },
        handshakeTimeoutSeconds: { ...seconds, description: 'Timeout for the handshake of a connection.' },
      },
    },
    drainSeconds: {
      ...seconds,
      description: 'How long requests in flight have to finish after lameDuckSeconds, or after SIGINT.',
    },
  },
};

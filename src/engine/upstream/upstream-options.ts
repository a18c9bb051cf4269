import { DEFAULT_JSON_LIMITS } from '../../lib/bounded-json.ts';
import { isPlaceholderSecret } from '../../lib/placeholder.ts';
import { readSecretFile } from '../../lib/secret-file.ts';
import { toAuthorization } from '../../lib/basic-credentials.ts';

/** Whose credential to send to the upstream: the caller's or a service account's. */
type UpstreamCredentials =
  | { readonly kind: 'forward' }
  | {
      readonly kind: 'service';
      readonly username: string;
      /** Exactly one of `password`, `passwordEnv` and `passwordFile` is set. */
      readonly password?: string;
      readonly passwordEnv?: string;
      readonly passwordFile?: string;
    };

/** The value of the `upstream.probe` configuration key. */
export interface ProbeOptions {
  /** The path and query of the probes, relative to the base address. Undefined if no probes are sent. */
  readonly path?: string;
  readonly intervalSeconds: number;
  readonly timeoutMs: number;
  /** The number of consecutive failed probes after which an address is taken out of use. */
  readonly unhealthyAfter: number;
  /** The number of consecutive successful probes after which an address is used again. */
  readonly healthyAfter: number;
}

/** The value of the `upstream` configuration key. */
export interface UpstreamOptions {
  /** An `http` or `https` address with an optional path prefix. If not set, the embedded upstream is started. */
  readonly url?: string;
  /** Additional addresses of the same server, with the same path prefix. */
  readonly alternates: readonly string[];
  /**
   * Determines when and for how long a failing address is taken out of use. `seconds` doubles with each ejection, up to
   * `maxSeconds`.
   */
  readonly ejection: { readonly failures: number; readonly seconds: number; readonly maxSeconds: number };
  readonly probe: ProbeOptions;
  readonly credentials: UpstreamCredentials;
  /** The names of the cookies that the legacy server uses for its sessions. */
  readonly sessionCookies: readonly string[];
  /** The names of the response headers that clients of documented operations receive. */
  readonly responseHeaders: readonly string[];
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** The maximum idle time between two chunks of a body. */
  readonly bodyTimeoutMs: number;
  /**
   * The maximum time from admission until the response is complete or continues as a stream. This limit does not apply
   * to passthrough exchanges.
   */
  readonly totalTimeoutMs: number;
  /**
   * The maximum time for which a client may pause while it reads a streamed response or sends a body. During the pause,
   * the client occupies one of the `streams`.
   */
  readonly clientTimeoutMs: number;
  readonly concurrency: number;
  /**
   * The limits on exchanges whose duration depends on the client. These exchanges do not count toward `concurrency`.
   */
  readonly streams: { readonly total: number; readonly perCaller: number; readonly perAddress: number };
  readonly queue: number;
  readonly queueTimeoutMs: number;
  readonly retryBudget: {
    /** The percentage of safe requests that may be retried. */
    readonly percent: number;
    /** The number of retries per second that are always allowed, even if there are only a few requests. */
    readonly minPerSecond: number;
  };
  /**
   * How long idle connections stay open, in milliseconds. The default is shorter than the usual server timeout (often 5
   * s), so that the gateway closes idle connections first.
   */
  readonly idleTimeoutMs: number;
  /** The maximum size of a body in memory, both as received and after decoding. */
  readonly maxResponseBytes: number;
  /** The maximum size of a response's headers, in bytes. */
  readonly maxResponseHeaderBytes: number;
  /** The maximum nesting depth of objects and arrays in a JSON response. */
  readonly maxJsonDepth: number;
  /** The maximum number of values in a JSON response, counted across all levels. */
  readonly maxJsonValues: number;
  readonly circuit: { readonly failures: number; readonly openSeconds: number };
  /** Whether to test a real upstream's address by sending one request after startup. */
  readonly startupProbe: boolean;
  /** Other origins of the legacy server, for example `http://old.example.org`. */
  readonly legacyOrigins: readonly string[];
  /**
   * Case-insensitive regular expressions. A message that matches any of these expressions means that a permission is
   * missing.
   */
  readonly permissionMessages: readonly string[];
}

/** The default values of the `upstream` configuration key. */
export const UPSTREAM_DEFAULTS: UpstreamOptions = {
  alternates: [],
  ejection: { failures: 3, seconds: 10, maxSeconds: 120 },
  probe: { intervalSeconds: 10, timeoutMs: 2000, unhealthyAfter: 3, healthyAfter: 2 },
  credentials: { kind: 'forward' },
  sessionCookies: ['JSESSIONID', 'SESSION', 'PHPSESSID', 'ASP.NET_SessionId', 'connect.sid'],
  responseHeaders: ['Content-Language', 'Link', 'Deprecation', 'Sunset', 'X-Total-Count'],
  connectTimeoutMs: 2000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  totalTimeoutMs: 20_000,
  clientTimeoutMs: 60_000,
  concurrency: 32,
  streams: { total: 128, perCaller: 32, perAddress: 64 },
  queue: 64,
  queueTimeoutMs: 1000,
  retryBudget: { percent: 20, minPerSecond: 3 },
  idleTimeoutMs: 4000,
  maxResponseBytes: 8 * 1024 * 1024,
  maxResponseHeaderBytes: 64 * 1024,
  maxJsonDepth: DEFAULT_JSON_LIMITS.depth,
  maxJsonValues: DEFAULT_JSON_LIMITS.values,
  circuit: { failures: 10, openSeconds: 5 },
  startupProbe: true,
  legacyOrigins: [],
  permissionMessages: [
    String.raw`\b(?:don['’]?t|do not|does not|doesn['’]?t) have (?:the )?(?:necessary |required |sufficient )?(?:permission|rights|privilege)`,
    String.raw`\blog ?in as (?:another|a different) user\b`,
    String.raw`\bpermission denied\b`,
    String.raw`\b(?:insufficient|missing) (?:permission|privilege)`,
    String.raw`\bnot (?:allowed|permitted) to\b`,
  ],
};

const timeoutMs = { type: 'integer', minimum: 1, maximum: 600_000 } as const;

const streamCount = { type: 'integer', minimum: 1, maximum: 10_000 } as const;

/** The JSON Schema for the `upstream` configuration key. */
export const upstreamOptionsSchema = {
  type: 'object',
  description: 'The legacy server: its address, the credential that is sent to it, and the limits for requests to it.',
  additionalProperties: false,
  properties: {
    url: {
      type: 'string',
      minLength: 1,
      description:
        'Base address, `http` or `https`, with an optional path prefix. Without it, Portico starts the reference server.',
    },
    alternates: {
      type: 'array',
      maxItems: 31,
      items: { type: 'string', minLength: 1 },
      description:
        'Further base addresses of the same server, with the same path prefix. Each request goes to the address with the fewest requests in progress; see docs/operations.md#several-upstream-addresses.',
    },
    ejection: {
      type: 'object',
      description:
        'When Portico stops using one of several addresses for a while. The last usable address is always used.',
      additionalProperties: false,
      properties: {
        failures: {
          type: 'integer',
          minimum: 1,
          maximum: 1000,
          description: 'Number of consecutive failed requests (5xx, or no response).',
        },
        seconds: {
          type: 'integer',
          minimum: 1,
          maximum: 3600,
          description:
            'How long the address is not used at first. Then it gets one request at a time; whenever one fails, the pause doubles.',
        },
        maxSeconds: {
          type: 'integer',
          minimum: 1,
          maximum: 86_400,
          description: 'The longest pause.',
        },
      },
    },
    probe: {
      type: 'object',
      description:
        'Requests without a credential that test at regular intervals whether each address responds; never sent in `observe` mode.',
      additionalProperties: false,
      properties: {
        path: {
          type: 'string',
          pattern: '^/[!-~]*$',
          description: 'The path to request, relative to the base address; without it, no probes are sent.',
        },
        intervalSeconds: {
          type: 'integer',
          minimum: 1,
          maximum: 3600,
          description: 'Interval between the probes of an address.',
        },
        timeoutMs: { ...timeoutMs, description: 'Timeout of a probe.' },
        unhealthyAfter: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          description: 'Number of consecutive failed probes (5xx, or no response) after which an address is not used.',
        },
        healthyAfter: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          description: 'Number of consecutive successful probes after which the address is used again.',
        },
      },
    },
    credentials: {
      type: 'object',
      description:
        "The credential that is sent: the caller's (`kind: forward`), or that of a service account (`kind: service`, `username`, and one of `password`, `passwordEnv` and `passwordFile`).",
      required: ['kind'],
      oneOf: [
        { type: 'object', additionalProperties: false, properties: { kind: { const: 'forward' } }, required: ['kind'] },
        {
          type: 'object',
          additionalProperties: false,
          properties: {
            kind: { const: 'service' },
            username: { type: 'string', minLength: 1, pattern: '^[^:]+$' },
            password: { type: 'string', minLength: 1 },
            passwordEnv: {
              type: 'string',
              minLength: 1,
              description: 'The environment variable that contains the password.',
            },
            passwordFile: { type: 'string', minLength: 1, description: 'A file whose first line is the password.' },
          },
          required: ['kind', 'username'],
          oneOf: [{ required: ['password'] }, { required: ['passwordEnv'] }, { required: ['passwordFile'] }],
        },
      ],
    },
    sessionCookies: {
      type: 'array',
      maxItems: 32,
      uniqueItems: true,
      items: { type: 'string', pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$" },
      description:
        'Names of the cookies in which the legacy server keeps its sessions. Outside `observe` mode, Portico keeps them for each credential, and they neither reach clients nor prevent storing; see docs/rules.md#2-authentication. With `[]`, no cookie is kept.',
    },
    responseHeaders: {
      type: 'array',
      maxItems: 64,
      items: { type: 'string', pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$" },
      description:
        'Names of the response headers that clients of documented operations receive, stored or not; all others are removed except in `observe` mode. A value replaces the whole list. Headers about which Portico decides, such as ETag and Set-Cookie, cannot be listed; see docs/rules.md#7-responses. Do not list headers that depend on the caller if callers share stored responses.',
    },
    connectTimeoutMs: { ...timeoutMs, description: 'Timeout for opening a connection.' },
    headersTimeoutMs: { ...timeoutMs, description: 'Timeout for the head of a response.' },
    bodyTimeoutMs: { ...timeoutMs, description: 'Maximum pause within the body of a response.' },
    totalTimeoutMs: { ...timeoutMs, description: 'Timeout for a complete exchange, except of passthrough.' },
    clientTimeoutMs: {
      ...timeoutMs,
      description:
        'How long a client may pause while a body is streamed to or from it, or a short body is read from it.',
    },
    concurrency: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000,
      description: 'Maximum number of concurrent exchanges.',
    },
    streams: {
      type: 'object',
      description:
        'Maximum numbers of bodies that are streamed to or from clients at the same time: undocumented responses, large responses in `observe` mode, and request bodies that exceed 64 KiB or have no length. They do not count toward `concurrency`. Beyond a limit, a request gets a 503.',
      additionalProperties: false,
      properties: {
        total: { ...streamCount, description: 'Of all callers together.' },
        perCaller: { ...streamCount, description: 'Per credential.' },
        perAddress: {
          ...streamCount,
          description:
            'Per client address (per /64 for IPv6). Behind a load balancer, set `listen.trustedProxies`; otherwise, all clients share one address.',
        },
      },
    },
    queue: {
      type: 'integer',
      minimum: 0,
      maximum: 100_000,
      description:
        'Maximum number of exchanges that wait for a free slot; further requests get a 503. Callers take turns. If the queue is full and a caller with fewer waiting exchanges needs a place, the caller with the most loses its latest one.',
    },
    queueTimeoutMs: { ...timeoutMs, description: 'Longest wait for a free slot before the request gets a 503.' },
    retryBudget: {
      type: 'object',
      description:
        'How many safe requests may be repeated, once each, because a reused connection was closed before the response. If both values are 0, none.',
      additionalProperties: false,
      properties: {
        percent: {
          type: 'integer',
          minimum: 0,
          maximum: 100,
          description: 'The percentage of safe requests that may be repeated.',
        },
        minPerSecond: {
          type: 'integer',
          minimum: 0,
          maximum: 1000,
          description: 'The number of retries per second that are always allowed.',
        },
      },
    },
    idleTimeoutMs: {
      ...timeoutMs,
      description:
        "Idle time before an upstream connection is closed; must be shorter than the upstream's own idle timeout.",
    },
    maxResponseBytes: {
      type: 'integer',
      minimum: 1024,
      maximum: 1_073_741_824,
      description:
        'Maximum size of a response that is read into memory, as received and as decoded. Larger ones become a 502 that names this key; in `observe` mode, they are streamed unchecked.',
    },
    maxResponseHeaderBytes: {
      type: 'integer',
      minimum: 1024,
      maximum: 16_777_216,
      description:
        "Maximum size of a response's headers; larger ones become a 502 (`upstream_response_too_large`). In `observe` mode, only memory limits them.",
    },
    maxJsonDepth: {
      type: 'integer',
      minimum: 8,
      maximum: 256,
      description:
        'Maximum nesting depth of responses. Deeper ones are not parsed or stored: a `size` violation, and a 502 that names this key if `responses` is enforced. In `observe` mode, they pass unchecked.',
    },
    maxJsonValues: {
      type: 'integer',
      minimum: 100,
      maximum: 10_000_000,
      description:
        'Maximum number of values in a response (members, elements, objects and arrays), treated like `maxJsonDepth`. Every 64 bytes of a number or white space count as a value; strings may contain 16 escapes per allowed value. The default admits lists of 5,000 large items, and takes a few hundred milliseconds to check.',
    },
    circuit: {
      type: 'object',
      description: 'When requests to the upstream are paused because it keeps failing.',
      additionalProperties: false,
      properties: {
        failures: {
          type: 'integer',
          minimum: 1,
          maximum: 100_000,
          description:
            'Number of consecutive failures. Of a single page, only the first three count, unless the connection was refused; above 3, one broken page therefore never causes a pause.',
        },
        openSeconds: { type: 'integer', minimum: 1, maximum: 3600, description: 'Length of the pause.' },
      },
    },
    startupProbe: {
      type: 'boolean',
      description:
        'Whether one GET request tests the address of a real upstream after startup. The result is only logged; see docs/operations.md#the-startup-probe.',
    },
    legacyOrigins: {
      type: 'array',
      items: { type: 'string', pattern: '^https?://[^/?#\\s]+$' },
      description: "Other origins in the legacy server's absolute addresses, for example http://old.example.org.",
    },
    permissionMessages: {
      type: 'array',
      items: { type: 'string', minLength: 1, format: 'regex' },
      description:
        'Case-insensitive regular expressions; an upstream error whose message matches one means that a permission is missing. One that can be slow causes a warning; see docs/contract.md#slow-patterns.',
    },
  },
} as const;

// No client waits for a whole day, and Node's timers allow delays of up to 24 days.
const DAY_MS = 86_400_000;
const ENDLESS = 1_000_000_000;
// Each stream buffers at most 64 KiB, so 4,096 streams use at most 256 MiB in total.
const MAX_STREAMS = 4096;
// Headers cannot be streamed, so memory limits them. No server sends more by mistake.
const MAX_HEADER_BYTES = 256 * 1024 * 1024;

/** What determines whether the limits apply. */
export interface LimitedBy {
  readonly mode: { readonly transparent: boolean };
  readonly isWalk?: boolean;
}

/**
 * Returns whether the limits are only observed and not enforced. This is the case in `observe` mode, in which a slow
 * upstream must look the same with and without Portico.
 */
export function observesLimits({ mode, isWalk }: LimitedBy): boolean {
  return mode.transparent && isWalk !== true;
}

/**
 * Returns options under which timeouts, the queue and the circuit never affect a request. The only remaining limits
 * protect memory: the maximum size of a response, and a generous maximum number of streams.
 */
export function withoutLimits(options: UpstreamOptions): UpstreamOptions {
  return {
    ...options,
    connectTimeoutMs: DAY_MS,
    headersTimeoutMs: DAY_MS,
    bodyTimeoutMs: DAY_MS,
    totalTimeoutMs: DAY_MS,
    clientTimeoutMs: DAY_MS,
    concurrency: ENDLESS,
    streams: { total: MAX_STREAMS, perCaller: MAX_STREAMS, perAddress: MAX_STREAMS },
    circuit: { ...options.circuit, failures: ENDLESS },
    maxResponseHeaderBytes: MAX_HEADER_BYTES,
  };
}

/**
 * Returns the `Authorization` value of the service account, or a configuration error. Returns undefined if the callers'
 * own credentials are forwarded.
 */
export function serviceAuthorization(
  credentials: UpstreamCredentials,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly authorization: string | undefined } | { readonly fault: string } {
  if (credentials.kind === 'forward') return { authorization: undefined };
  const password = servicePassword(credentials, environment);
  if ('fault' in password) return password;
  return { authorization: toAuthorization(credentials.username, password.text) };
}

/** Returns the password of the service account, or a configuration error. */
export function servicePassword(
  credentials: Extract<UpstreamCredentials, { kind: 'service' }>,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly text: string } | { readonly fault: string } {
  if (credentials.password !== undefined) return { text: credentials.password };
  if (credentials.passwordEnv !== undefined) {
    const text = environment[credentials.passwordEnv];
    if (!text) return { fault: `the variable ${credentials.passwordEnv} is not set` };
    if (isPlaceholderSecret(text))
      return { fault: `the variable ${credentials.passwordEnv} is a placeholder that has not been replaced` };
    return { text };
  }
  if (credentials.passwordFile === undefined) return { fault: 'the service account has no password' };
  return readSecretFile(credentials.passwordFile);
}

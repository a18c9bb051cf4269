/** The `redis.tls` configuration key. The paths are absolute. */
export interface RedisTlsOptions {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly serverName?: string;
}

/** The options under the `redis` configuration key, with all defaults filled in. */
export interface RedisOptions {
  /** `redis://` or `rediss://` (TLS), with an optional user, password and database. */
  readonly url?: string;
  /** A file whose first line is the URL. */
  readonly urlFile?: string;
  /** The ACL user and its password, unless the URL contains them. */
  readonly username?: string;
  readonly password?: string;
  readonly passwordFile?: string;
  /** The sentinels that know the address of the current primary. */
  readonly sentinel?: {
    readonly name: string;
    readonly nodes: readonly string[];
    /** The ACL user of the sentinels themselves, and the file whose first line is the password. */
    readonly username?: string;
    readonly passwordFile?: string;
  };
  /** Some nodes of a cluster. The others are discovered. */
  readonly cluster?: { readonly nodes: readonly string[] };
  readonly tls?: RedisTlsOptions;
  /** The first part of every key, so that several fleets can share a server. */
  readonly prefix: string;
  readonly connectTimeoutMs: number;
  /** The longest time that a request waits for Redis before it continues without it. */
  readonly commandTimeoutMs: number;
  /** The longest time for which pages in memory are served while changes by other gateways cannot be received. */
  readonly maxUnsyncedSeconds: number;
  /** The number of changes that the log keeps for gateways that were disconnected. */
  readonly maxChanges: number;
}

/** The defaults for the `redis` configuration key. */
export const REDIS_DEFAULTS: RedisOptions = {
  prefix: 'portico',
  connectTimeoutMs: 2_000,
  commandTimeoutMs: 250,
  maxUnsyncedSeconds: 5,
  maxChanges: 10_000,
};

/** Returns whether the configuration names a Redis server. Without one, nothing is shared. */
export function usesRedis({ url, urlFile, sentinel, cluster }: RedisOptions): boolean {
  return url !== undefined || urlFile !== undefined || sentinel !== undefined || cluster !== undefined;
}

const nodes = {
  type: 'array',
  minItems: 1,
  maxItems: 100,
  items: { type: 'string', pattern: String.raw`^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$` },
};
const path = (description: string) => ({ type: 'string', minLength: 1, description });

/** The JSON Schema for the `redis` configuration key. */
export const redisOptionsSchema = {
  type: 'object',
  description: 'The Redis or Valkey server on which several gateways share their state. Off without a server.',
  additionalProperties: false,
  properties: {
    url: {
      type: 'string',
      pattern: '^rediss?://',
      description: 'The server: redis://[user:password@]host[:port][/database], or rediss:// for TLS; REDIS_URL.',
    },
    urlFile: path('A file whose first line is the url; REDIS_URL_FILE.'),
    username: { type: 'string', minLength: 1, description: 'The ACL user, unless the url contains it.' },
    password: { type: 'string', minLength: 1, description: 'The password, unless the url contains it.' },
    passwordFile: path('A file whose first line is the password.'),
    sentinel: {
      type: 'object',
      description: 'The sentinels that know the current primary.',
      additionalProperties: false,
      required: ['name', 'nodes'],
      properties: {
        name: { type: 'string', minLength: 1, description: 'The name of the primary, as the sentinels know it.' },
        nodes: { ...nodes, description: 'Sentinels as host:port.' },
        username: { type: 'string', minLength: 1, description: 'The ACL user of the sentinels themselves.' },
        passwordFile: path('A file whose first line is the password of the sentinels themselves.'),
      },
    },
    cluster: {
      type: 'object',
      description: 'A Redis cluster.',
      additionalProperties: false,
      required: ['nodes'],
      properties: { nodes: { ...nodes, description: 'Some nodes as host:port; the others are discovered.' } },
    },
    tls: {
      type: 'object',
      description: 'TLS to the servers. An empty object turns it on with the system’s certificate authorities.',
      additionalProperties: false,
      properties: {
        caFile: path('The certificate authorities that are trusted, in PEM format.'),
        certFile: path('The client certificate, in PEM format.'),
        keyFile: path('The key of the client certificate, in PEM format.'),
        serverName: { type: 'string', minLength: 1, description: 'The name in the server’s certificate.' },
      },
    },
    prefix: {
      type: 'string',
      pattern: '^[A-Za-z0-9._:-]{1,64}$',
      description: 'The first part of every key, so that several fleets can share a server.',
    },
    connectTimeoutMs: { type: 'integer', minimum: 50, maximum: 60_000 },
    commandTimeoutMs: {
      type: 'integer',
      minimum: 5,
      maximum: 10_000,
      description: 'The longest time that a request waits for Redis before it continues without it.',
    },
    maxUnsyncedSeconds: {
      type: 'number',
      minimum: 1,
      maximum: 3600,
      description: 'The longest time for which stored pages are served while changes by other gateways cannot arrive.',
    },
    maxChanges: {
      type: 'integer',
      minimum: 100,
      maximum: 1_000_000,
      description: 'The number of changes that are stored for gateways that were disconnected.',
    },
  },
};

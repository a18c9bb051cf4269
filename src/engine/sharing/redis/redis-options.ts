import { type CertificateContents, readCertificateFiles } from '../../../lib/certificate-files.ts';
import { readSecretFile } from '../../../lib/secret-file.ts';
import { MIN_SEAL_KEY } from '../../../lib/seal.ts';

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
  /** A file whose first line is the key that seals shared pages and page counts. Without it, they are not sealed. */
  readonly sealKeyFile?: string;
  /** A file whose first line is the previous key. Values that it sealed are still accepted while a fleet changes keys. */
  readonly previousSealKeyFile?: string;
  /** The sentinels, which provide the address of the current primary. */
  readonly sentinel?: {
    readonly name: string;
    readonly nodes: readonly string[];
    /** The ACL user for the sentinels themselves, and the file whose first line is that user's password. */
    readonly username?: string;
    readonly passwordFile?: string;
  };
  /** Some of the cluster's nodes. The others are discovered. */
  readonly cluster?: { readonly nodes: readonly string[] };
  readonly tls?: RedisTlsOptions;
  /** The prefix of every key. With different prefixes, several fleets can share a server. */
  readonly prefix: string;
  readonly connectTimeoutMs: number;
  /** The maximum time that a request waits for Redis. After this time, the request continues without Redis. */
  readonly commandTimeoutMs: number;
  /** How long pages in memory may still be served while changes from other gateways cannot be received. */
  readonly maxUnsyncedSeconds: number;
  /** The number of changes that the log stores for gateways that have been disconnected. */
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

/** Returns whether the configuration names a Redis server. If it does not, no state is shared. */
export function usesRedis({ url, urlFile, sentinel, cluster }: RedisOptions): boolean {
  return url !== undefined || urlFile !== undefined || sentinel !== undefined || cluster !== undefined;
}

const nodes = {
  type: 'array',
  minItems: 1,
  maxItems: 100,
  items: { type: 'string', pattern: String.raw`^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$` },
};
const pathSchema = (description: string) => ({ type: 'string', minLength: 1, description });

/** The JSON Schema for the `redis` configuration key. */
export const redisOptionsSchema = {
  type: 'object',
  description:
    'The Redis or Valkey server through which several gateways share their state. Without a server, nothing is shared.',
  additionalProperties: false,
  properties: {
    url: {
      type: 'string',
      pattern: '^rediss?://',
      description: 'The server: `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS.',
    },
    urlFile: pathSchema('File whose first line is the `url`.'),
    username: { type: 'string', minLength: 1, description: 'The ACL user, unless the `url` contains it.' },
    password: { type: 'string', minLength: 1, description: 'The password, unless the `url` contains it.' },
    passwordFile: pathSchema('A file whose first line is the password.'),
    sealKeyFile: pathSchema(
      'File whose first line is the key, of at least 32 characters, that seals the pages and page counts in Redis; see docs/fleet.md#sealed-pages. Without it, they are not sealed.',
    ),
    previousSealKeyFile: pathSchema(
      'File whose first line is the previous key. Values that it sealed are still accepted.',
    ),
    sentinel: {
      type: 'object',
      description: 'The sentinels that know the current primary.',
      additionalProperties: false,
      required: ['name', 'nodes'],
      properties: {
        name: { type: 'string', minLength: 1, description: 'The name under which the sentinels know the primary.' },
        nodes: { ...nodes, description: 'Sentinels as host:port.' },
        username: { type: 'string', minLength: 1, description: 'The ACL user of the sentinels themselves.' },
        passwordFile: pathSchema('A file whose first line is the password of the sentinels themselves.'),
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
      description:
        "TLS for the connections to the servers, with files in PEM format. `tls: {}` turns it on with Node's default certificate authorities.",
      additionalProperties: false,
      properties: {
        caFile: pathSchema('The certificate authorities that are trusted.'),
        certFile: pathSchema('The client certificate.'),
        keyFile: pathSchema('The key of the client certificate.'),
        serverName: {
          type: 'string',
          minLength: 1,
          description: "The name in the server's certificate, if it differs from the host.",
        },
      },
    },
    prefix: {
      type: 'string',
      pattern: '^[A-Za-z0-9._:-]{1,64}$',
      description: 'The first part of every key, so that several fleets can share a server.',
    },
    connectTimeoutMs: { type: 'integer', minimum: 50, maximum: 60_000, description: 'Timeout for connecting.' },
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
      description: 'How long stored pages are served while changes by other gateways cannot arrive.',
    },
    maxChanges: {
      type: 'integer',
      minimum: 100,
      maximum: 1_000_000,
      description: 'How many changes are kept, so that gateways that were disconnected can catch up.',
    },
  },
};

/** The secrets and TLS certificates for a connection, as read from their files. */
export interface RedisSecrets {
  readonly url: string | undefined;
  readonly password: string | undefined;
  readonly sentinelPassword?: string;
  /** The keys that seal shared values, the current one first. Empty or absent if values are not sealed. */
  readonly sealKeys?: readonly string[];
  /** Certificates and keys in PEM format. Undefined if no file is configured. */
  readonly tls?: CertificateContents;
}

/**
 * A problem with a secret or its file. `key` is the key under `redis`, with dots. The message never quotes the file.
 */
interface RedisSecretFault {
  readonly key: string;
  readonly message: string;
}

/** Either the secrets or all problems found while reading them. */
type RedisSecretsReading =
  | { readonly secrets: RedisSecrets; readonly faults: readonly [] }
  | { readonly secrets?: undefined; readonly faults: readonly RedisSecretFault[] };

/** Reads and checks the secrets and certificates for a connection. Reports all problems, not only the first. */
export function readRedisSecrets(options: RedisOptions): RedisSecretsReading {
  const faults: RedisSecretFault[] = [];
  const secretOf = (key: string, path: string | undefined): string | undefined => {
    if (path === undefined) return undefined;
    const reading = readSecretFile(path);
    if ('text' in reading) return reading.text;
    faults.push({ key, message: reading.fault });
    return undefined;
  };
  const url = secretOf('urlFile', options.urlFile) ?? options.url;
  const password = secretOf('passwordFile', options.passwordFile) ?? options.password;
  const sentinelPassword = secretOf('sentinel.passwordFile', options.sentinel?.passwordFile);
  const sealKeyOf = (key: 'sealKeyFile' | 'previousSealKeyFile') => {
    const text = secretOf(key, options[key]);
    if (text !== undefined && text.length < MIN_SEAL_KEY)
      faults.push({ key, message: `contains a key with fewer than ${MIN_SEAL_KEY} characters` });
    return text;
  };
  const sealKeys = [sealKeyOf('sealKeyFile'), sealKeyOf('previousSealKeyFile')].filter((key) => key !== undefined);
  if (options.sealKeyFile === undefined && options.previousSealKeyFile !== undefined)
    faults.push({ key: 'previousSealKeyFile', message: 'is set, but sealKeyFile is not' });
  const urlMessage = url === undefined ? undefined : urlFault(url, options.tls);
  if (urlMessage !== undefined)
    faults.push({ key: options.urlFile === undefined ? 'url' : 'urlFile', message: urlMessage });
  if (url !== undefined && urlMessage === undefined && hasCredentials(url))
    for (const key of ['username', 'password', 'passwordFile'] as const)
      if (options[key] !== undefined)
        faults.push({ key, message: 'is set, but the URL contains a user or a password' });
  const tls = options.tls && readCertificateFiles(options.tls, { authorities: 'caFile', takesPassphrase: false });
  faults.push(...(tls?.faults ?? []).map(({ key, message }) => ({ key: `tls.${key}`, message })));
  if (faults.length > 0) return { faults };
  const secrets = {
    url,
    password,
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(sealKeys.length > 0 && { sealKeys }),
    ...(tls?.contents !== undefined && { tls: tls.contents }),
  };
  return { secrets, faults: [] };
}

/** Describes the problem with a URL without quoting the URL, which may contain a password. */
function urlFault(text: string, tls: RedisTlsOptions | undefined): string | undefined {
  if (!URL.canParse(text)) return 'is not a valid URL; percent-encode special characters in the password';
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(text);
  if (protocol !== 'redis:' && protocol !== 'rediss:') return 'does not begin with redis:// or rediss://';
  if (hostname === '') return 'contains no host';
  if (!isDecodable(username) || !isDecodable(password))
    return 'contains a percent sign in the user or password that does not begin an escape; write %25';
  if (!/^\/?\d{0,5}$/.test(pathname)) return 'has a path that is not the number of a database';
  if (search !== '' || hash !== '') return 'has a query or a fragment, which is not supported';
  if (tls !== undefined && protocol === 'redis:') return 'begins with redis://, but redis.tls needs rediss://';
  return undefined;
}

function hasCredentials(text: string): boolean {
  const { username, password } = new URL(text);
  return username !== '' || password !== '';
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

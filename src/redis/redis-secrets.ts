import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { readSecretFile } from '../files/secret-file.ts';
import type { RedisOptions, RedisTlsOptions } from './redis-options.ts';

/** The secrets of a connection and the certificates for TLS, as read from their files. */
export interface RedisSecrets {
  readonly url: string | undefined;
  readonly password: string | undefined;
  readonly sentinelPassword?: string;
  /** Certificates and keys in PEM format. Undefined if no file is configured. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
}

/** A problem with a secret or its file. `key` is the dotted key below `redis`. The message never quotes the file. */
interface RedisSecretFault {
  readonly key: string;
  readonly message: string;
}

/** The result of reading the secrets: the secrets, or every problem with them. */
type RedisSecretsReading =
  | { readonly secrets: RedisSecrets; readonly faults: readonly [] }
  | { readonly secrets?: undefined; readonly faults: readonly RedisSecretFault[] };

/** Reads and checks the secrets and certificates of a connection. Every problem is reported, not only the first one. */
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
  const urlMessage = url === undefined ? undefined : urlFault(url, options.tls);
  if (urlMessage !== undefined)
    faults.push({ key: options.urlFile === undefined ? 'url' : 'urlFile', message: urlMessage });
  if (url !== undefined && urlMessage === undefined && hasCredentials(url))
    for (const key of ['username', 'password', 'passwordFile'] as const)
      if (options[key] !== undefined)
        faults.push({ key, message: 'is set, but the URL contains a user or a password' });
  const tls = options.tls && readTlsFiles(options.tls, faults);
  if (faults.length > 0) return { faults };
  const secrets = {
    url,
    password,
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(tls !== undefined && { tls }),
  };
  return { secrets, faults: [] };
}

/** Returns what is wrong with a URL, without quoting it, because it may contain a password. */
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

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function readTlsFiles(options: RedisTlsOptions, faults: RedisSecretFault[]): RedisSecrets['tls'] {
  const before = faults.length;
  const refuse = (key: string, message: string) => void faults.push({ key: `tls.${key}`, message });
  const read = (key: 'caFile' | 'certFile' | 'keyFile'): string | undefined => {
    const path = options[key];
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
      refuse(key, `the file ${path} cannot be read (${code})`);
      return undefined;
    }
  };
  const leafOf = (key: 'caFile' | 'certFile', text: string | undefined): X509Certificate | undefined => {
    if (text === undefined) return undefined;
    try {
      const [leaf] = (text.match(CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem));
      if (leaf === undefined) refuse(key, 'contains no certificate in PEM format');
      return leaf;
    } catch {
      refuse(key, 'contains a certificate that cannot be read');
      return undefined;
    }
  };
  const [ca, cert, key] = [read('caFile'), read('certFile'), read('keyFile')];
  leafOf('caFile', ca);
  const leaf = leafOf('certFile', cert);
  if (key !== undefined) {
    try {
      const parsed = createPrivateKey(key);
      if (leaf?.checkPrivateKey(parsed) === false) refuse('keyFile', 'does not belong to the certificate in certFile');
    } catch {
      refuse('keyFile', 'contains no unencrypted private key in PEM format');
    }
  }
  const files = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
  if (faults.length > before) return files;
  try {
    createSecureContext(files);
  } catch {
    refuse('certFile', 'cannot be used by OpenSSL');
  }
  return files;
}

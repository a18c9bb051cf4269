import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  readRedisSecrets,
  REDIS_DEFAULTS,
  type RedisOptions,
} from '../../../../src/engine/sharing/redis/redis-options.ts';
import { createCertificate } from '../../../builders/certificates.ts';
import { tempFolder } from '../../../builders/temp-folder.ts';

const folder = tempFolder();
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, 0o600);
  return path;
};
const read = (options: Partial<RedisOptions>) => readRedisSecrets({ ...REDIS_DEFAULTS, ...options });
const faults = (options: Partial<RedisOptions>) => read(options).faults.map(({ key, message }) => `${key} ${message}`);

const [one, other] = [createCertificate(), createCertificate()];
const pem = { cert: file('cert.pem', one.cert), key: file('key.pem', one.key), other: file('other.pem', other.key) };

it('reads the secrets from their files', () => {
  const urlFile = file('url', 'rediss://:planted@a\nmore');
  const tls = { caFile: pem.cert, certFile: pem.cert, keyFile: pem.key };
  expect(read({ urlFile, tls }).secrets).toEqual({
    url: 'rediss://:planted@a',
    password: undefined,
    tls: { ca: one.cert, cert: one.cert, key: one.key },
  });
  const sentinel = { name: 'main', nodes: ['a:1'], passwordFile: file('sentinel', 'two') };
  expect(read({ sentinel, passwordFile: file('password', 'one') }).secrets).toEqual({
    url: undefined,
    password: 'one',
    sentinelPassword: 'two',
  });
});

// Errors from URL parsers contain the URL, and the URL contains the password.
it.each([
  ['redis://:planted/x@a', 'is not a valid URL'],
  ['http://:planted@a', 'does not begin with redis:// or rediss://'],
  ['redis://:planted@', 'is not a valid URL'],
  ['redis://:planted%@a', 'contains a percent sign'],
  ['redis://:planted@a/database', 'has a path that is not the number of a database'],
  ['redis://:planted@a/0?db=1', 'has a query or a fragment'],
])('refuses the URL %s without quoting it', (url, message) => {
  const [inline, ...more] = faults({ url });
  expect([inline, more.length]).toEqual([expect.stringContaining(`url ${message}`) as string, 0]);
  expect(inline).not.toContain('planted');
  const [inFile] = faults({ urlFile: file('url', url) });
  expect(inFile).toContain(`urlFile ${message}`);
  expect(inFile).not.toContain('planted');
});

it('refuses a second user or password, and TLS options for an address without TLS', () => {
  expect(faults({ url: 'redis://:planted@a', username: 'gw', passwordFile: file('password', 'x') })).toEqual([
    'username is set, but the URL contains a user or a password',
    'passwordFile is set, but the URL contains a user or a password',
  ]);
  expect(faults({ url: 'redis://a', tls: {} })).toEqual(['url begins with redis://, but redis.tls needs rediss://']);
});

it('reports every file that cannot be used, by its key', () => {
  const missing = join(folder, 'missing');
  expect(faults({ urlFile: missing, passwordFile: file('empty', '') })).toEqual([
    `urlFile the file ${missing} cannot be read: there is no such file or folder (ENOENT)`,
    `passwordFile the first line of the file ${join(folder, 'empty')} is empty`,
  ]);
  const url = 'rediss://a';
  expect(faults({ url, tls: { caFile: missing, certFile: pem.cert, keyFile: pem.other } })).toEqual([
    `tls.caFile the file ${missing} cannot be read: there is no such file or folder (ENOENT)`,
    'tls.keyFile does not belong to the certificate in certFile',
  ]);
  const damaged = file('damaged', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  expect(faults({ url, tls: { caFile: pem.key, certFile: damaged, keyFile: pem.cert } })).toEqual([
    'tls.caFile contains no certificate in PEM format',
    'tls.certFile contains a certificate that cannot be read',
    'tls.keyFile contains no unencrypted private key in PEM format',
  ]);
});

it('reads the keys that seal shared values, and refuses short keys and a previous key alone', () => {
  const [now, before] = ['n'.repeat(32), 'b'.repeat(32)];
  const url = 'redis://a';
  const sealKeyFile = file('now', now);
  expect(read({ url, sealKeyFile }).secrets?.sealKeys).toEqual([now]);
  expect(read({ url, sealKeyFile, previousSealKeyFile: file('before', before) }).secrets?.sealKeys).toEqual([
    now,
    before,
  ]);
  expect(faults({ url, sealKeyFile: file('short', 'planted'.repeat(4)) })).toEqual([
    'sealKeyFile contains a key with fewer than 32 characters',
  ]);
  expect(faults({ url, previousSealKeyFile: file('before', before) })).toEqual([
    'previousSealKeyFile is set, but sealKeyFile is not',
  ]);
});

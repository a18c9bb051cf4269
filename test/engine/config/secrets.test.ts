import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPermissions, loadStart } from '../../../src/engine/load-start.ts';
import { FEATURES } from '../../../src/features.ts';
import { CONTRACT_DEFAULTS, readSettings } from '../../../src/portico-settings.ts';
import { createPublishedCheck, PUBLIC_PASSWORDS } from '../../../src/engine/config/secrets.ts';
import { loadContract } from '../../../src/engine/contract/load-contract.ts';
import { packageRoot } from '../../../src/lib/package-root.ts';
import { openStoredResults } from '../../../src/lib/stored-results.ts';
import { StartFault } from '../../../src/engine/model/fault.ts';
import { REFERENCE_ACCOUNTS } from '../../../src/reference/reference-accounts.ts';
import { serviceAuthorization } from '../../../src/engine/upstream/upstream-options.ts';
import { basic } from '../../builders/call.ts';
import { fastHash } from '../../builders/fast-roles.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { tlsFiles } from '../../builders/tls.ts';

const TOKEN = 'q7Vd0xLk3MzR9tYw';
const REAL = { upstream: { url: 'https://qa.example.org/qa' } };
const SERVICE = {
  ...REAL,
  mode: 'strict',
  upstream: { ...REAL.upstream, credentials: { kind: 'service', username: 'robot' } },
};

interface Given {
  readonly config?: object;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The contents of the other files in the configuration directory, keyed by name. All files are created with `mode`.
   */
  readonly files?: Readonly<Record<string, string>>;
  readonly mode?: number;
}

/** Reads a configuration from a file in a folder with other files. */
function read({ config = {}, env = {}, files = {}, mode = 0o600 }: Given) {
  const folder = tempFolder();
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), mode);
  };
  for (const [name, text] of Object.entries({ ...files, 'portico.yaml': JSON.stringify(config) })) write(name, text);
  const { settings, faults } = readSettings({ env, cwd: folder });
  return { settings, faults, folder, messages: faults.map(({ message }) => message.replaceAll(`${folder}/`, '')) };
}

const withPassword = (key: string, value: string) => ({
  ...SERVICE,
  upstream: { ...SERVICE.upstream, credentials: { ...SERVICE.upstream.credentials, [key]: value } },
});

describe('every secret', () => {
  it.each([
    ['a key', { config: { adminToken: TOKEN } }],
    ['a variable', { env: { PORTICO_ADMIN_TOKEN: TOKEN } }],
    ['a file', { config: { adminTokenFile: 'token' }, files: { token: `${TOKEN}\n` } }],
    ['a file with a Windows line break', { config: { adminTokenFile: 'token' }, files: { token: `${TOKEN}\r\n` } }],
    ['a file that a variable names', { env: { PORTICO_ADMIN_TOKEN_FILE: 'token' }, files: { token: TOKEN } }],
  ])('of the admin side can come from %s', (_source, given) => {
    const { settings, faults } = read(given);
    expect([settings.adminToken, faults]).toEqual([TOKEN, []]);
    expect(settings.originOf('/adminToken')).not.toBe('default');
  });

  it.each([
    ['a key', { config: withPassword('password', 'open sesame') }],
    ['a file', { config: withPassword('passwordFile', 'password'), files: { password: 'open sesame\n' } }],
    ['a named variable', { config: withPassword('passwordEnv', 'THEIRS'), env: { THEIRS: 'open sesame' } }],
    ['variables', { config: SERVICE, env: { UPSTREAM_USERNAME: 'robot', UPSTREAM_PASSWORD: 'open sesame' } }],
    [
      'a file that a variable names',
      {
        config: { ...REAL, mode: 'strict' },
        env: { UPSTREAM_USERNAME: 'robot', UPSTREAM_PASSWORD_FILE: 'password' },
        files: { password: 'open sesame\n' },
      },
    ],
  ])('of the upstream can come from %s', (_source, given: Given) => {
    const { settings, faults } = read(given);
    expect(faults).toEqual([]);
    expect(serviceAuthorization(settings.upstream.credentials, given.env ?? {})).toEqual({
      authorization: basic('robot', 'open sesame'),
    });
  });

  it('comes from exactly one source, and all errors are reported at once', () => {
    const { messages } = read({
      config: { ...withPassword('password', 'open sesame'), adminToken: TOKEN, adminTokenFile: 'token' },
      env: { UPSTREAM_USERNAME: 'robot', UPSTREAM_PASSWORD_FILE: 'password' },
      files: { token: TOKEN, password: 'other' },
    });
    expect(messages).toEqual(
      expect.arrayContaining([
        'is set in addition to adminToken; set only one',
        'requires exactly one of password, passwordEnv, passwordFile',
      ]),
    );
  });

  it.each([
    ['is missing', {}, 'the file token cannot be read: there is no such file or folder (ENOENT)'],
    ['is empty', { token: '\n' }, 'the first line of the file token is empty'],
    [
      'asks for its replacement',
      { token: 'changeme-1234567890\n' },
      'the first line of the file token is a placeholder that has not been replaced',
    ],
    ['is short', { token: 'short\n' }, 'contains a token with fewer than 8 characters'],
  ])('in a file that %s is an error that names the file, not the secret', (_what, files, message) => {
    expect(read({ config: { adminTokenFile: 'token' }, files }).messages).toEqual([message]);
  });

  it.each(['UPSTREAM_PASSWORD', 'UPSTREAM_PASSWORD_FILE'])('%s without a user name is an error', (name) => {
    expect(read({ config: REAL, env: { [name]: 'x' } }).faults).toMatchObject([
      { source: name, message: 'is set without UPSTREAM_USERNAME' },
    ]);
  });
});

describe('the admin token', () => {
  const off = (config: object = {}) => ({ ...config, listen: { adminHost: '0.0.0.0' } });

  it('is required off loopback with a real upstream', () => {
    expect(read({ config: off(REAL) }).messages).toEqual([
      'is required, because the admin side listens on 0.0.0.0, not on loopback',
    ]);
    expect(read({ config: off() }).messages).toEqual([]);
    expect(read({ config: REAL }).messages).toEqual([]);
  });

  it.each([
    ['15 characters', 'q7Vd0xLk3MzR9tY'],
    ['few different characters', 'aaaabbbbccccddddeeee'],
  ])('with %s is too easy to guess off loopback', (_what, adminToken) => {
    const { messages } = read({ config: off({ ...REAL, adminToken }) });
    expect(messages).toEqual([expect.stringMatching(/^is too easy to guess/)]);
    expect(messages.join('')).not.toContain(adminToken);
    expect(read({ config: { ...REAL, adminToken } }).messages).toEqual([]);
    const inFile = read({ config: off({ ...REAL, adminTokenFile: 'token' }), files: { token: adminToken } });
    expect(inFile.faults).toMatchObject([{ pointer: '/adminTokenFile' }]);
  });

  it('with 16 characters is accepted', () => {
    expect(read({ config: off({ ...REAL, adminToken: TOKEN }) }).messages).toEqual([]);
  });
});

/**
 * The attack: a second user on the machine, or a compromised process, reads a file that contains a secret and was
 * created with default permissions.
 */
describe('a file with a secret that every user can read', () => {
  const { options: tls } = tlsFiles();
  chmodSync(tls.keyFile, 0o644);
  const CASES = [
    ['the configuration with a token', { ...REAL, adminToken: TOKEN }, 'portico.yaml'],
    ['the configuration with a password', withPassword('password', 'open sesame'), 'portico.yaml'],
    ['the configuration with a Redis password', { ...REAL, redis: { url: 'redis://:planted@a' } }, 'portico.yaml'],
    ['the file of the token', { ...REAL, adminTokenFile: 'token' }, 'token'],
    ['the file of the password', withPassword('passwordFile', 'password'), 'password'],
    ['the key of the certificate', { ...REAL, listen: { tls } }, tls.keyFile],
  ] as const;
  const files = { token: TOKEN, password: 'open sesame' };

  it.each(CASES)('prevents a start with a real upstream: %s', (_what, config, name) => {
    const { messages, faults } = read({ config, files, mode: 0o644 });
    expect(messages).toEqual([`every user of this machine can read the secret in ${name}`]);
    expect(faults[0]?.suggestion).toContain('chmod o-rwx ');
    expect(read({ config: { ...config, readableSecrets: 'allow' }, files, mode: 0o644 }).messages).toEqual([]);
  });

  it('prevents nothing if only the group can read it, or if it contains no secret', () => {
    for (const [, config, name] of CASES)
      if (name !== tls.keyFile) expect(read({ config, files, mode: 0o640 }).messages).toEqual([]);
    expect(read({ config: REAL, mode: 0o644 }).messages).toEqual([]);
    const redis = { url: 'redis://redis.example:6379' };
    expect(read({ config: { ...REAL, redis }, mode: 0o644 }).messages).toEqual([]);
  });

  it('prevents nothing with the reference server, whose passwords are public anyway', () => {
    expect(read({ config: { adminToken: TOKEN }, mode: 0o644 }).messages).toEqual([]);
  });
});

describe('demo accounts', () => {
  const contract = loadContract(CONTRACT_DEFAULTS);
  const [demoHash = ''] = /\$argon2id\S+/.exec(readFileSync(join(packageRoot, 'config', 'roles.yaml'), 'utf8')) ?? [];

  type How = Pick<Given, 'mode' | 'config'>;

  function settingsWith(passwordHash: string, { mode = 0o600, config = REAL }: How) {
    const roles = { roles: { anonymous: {} }, accounts: [{ name: 'eve', roles: [], passwordHash }] };
    const files = { 'roles.yaml': JSON.stringify(roles) };
    return read({ config: { ...config, roles: { file: 'roles.yaml' } }, files, mode }).settings;
  }

  const rolesWarnings = (passwordHash: string, how: How) =>
    loadStart(settingsWith(passwordHash, how), { features: FEATURES, env: {} })
      .warnings.map(({ message }) => message)
      .filter((message) => message.includes('hashes'));

  function rolesFaults(passwordHash: string, how: How = {}) {
    const settings = settingsWith(passwordHash, how);
    try {
      loadPermissions(settings, contract);
      return [];
    } catch (error) {
      return error instanceof StartFault ? error.faults.map(({ message }) => message) : [String(error)];
    }
  }

  it('have the passwords that are refused', () => {
    expect(PUBLIC_PASSWORDS).toEqual(REFERENCE_ACCOUNTS.map(({ password }) => password));
  });

  it('lend their passwords to no account of a real upstream', async () => {
    expect(rolesFaults(demoHash)).toEqual(['eve has the published password of a demo account']);
    expect(rolesFaults(demoHash, { config: {} })).toEqual([]);
    expect(rolesFaults(await fastHash('own'))).toEqual([]);
  });

  it.each(PUBLIC_PASSWORDS)(
    'do not lend the password %s to an account, whatever the salt of its hash',
    async (password) => {
      expect(rolesFaults(await fastHash(password))).toEqual(['eve has the published password of a demo account']);
    },
  );

  it('are looked for in each hash once, not at every start', async () => {
    const folder = join(tempFolder(), 'results');
    const start = () => createPublishedCheck(openStoredResults('', folder));
    const own = await fastHash('own');
    const published = await fastHash('alice');
    expect([...start()([own, published])]).toEqual([published]);
    const [file = ''] = readdirSync(folder).map((name) => join(folder, name));
    const stored = readFileSync(file, 'utf8');
    expect(stored).not.toContain(own);
    // The published hash is not stored, so it is found again.
    expect([...start()([own, published])]).toEqual([published]);
    expect(readFileSync(file, 'utf8')).toBe(stored);
    // What is stored is believed, so nothing was computed for it.
    const digests = JSON.stringify([createHash('sha256').update(published).digest('base64')]);
    writeFileSync(file, `${createHash('sha256').update(digests).digest('hex')}\n${digests}`);
    expect([...start()([published])]).toEqual([]);
    // Hashes that are no longer in use are forgotten.
    expect([...start()([own])]).toEqual([]);
    expect([...start()([published])]).toEqual([published]);
  });

  it.each(PUBLIC_PASSWORDS)('lend the password %s to no service account', (password) => {
    expect(read({ config: withPassword('password', password) }).messages).toEqual([
      'is the published password of a demo account',
    ]);
    const files = { password: `${password}\n` };
    expect(read({ config: withPassword('passwordFile', 'password'), files }).messages).toEqual([
      'is the published password of a demo account',
    ]);
  });

  it('lend their passwords to no admin token and no Redis server', () => {
    const message = 'is the published password of a demo account';
    const files = { password: 'moderator\n' };
    expect(read({ config: { ...REAL, adminToken: 'moderator' } }).messages).toEqual([message]);
    expect(read({ config: { ...REAL, adminTokenFile: 'password' }, files }).messages).toEqual([message]);
    const redis = { url: 'redis://127.0.0.1:9' };
    expect(read({ config: { ...REAL, redis: { ...redis, password: 'admin' } } }).messages).toEqual([message]);
    expect(read({ config: { ...REAL, redis: { ...redis, passwordFile: 'password' } }, files }).messages).toEqual([
      message,
    ]);
    expect(read({ config: { adminToken: 'moderator' } }).messages).toEqual([]);
  });

  it('start with a warning if every user can read their hashes', async () => {
    const hash = await fastHash('own');
    const warned = (how: How) => rolesWarnings(hash, how);
    expect(rolesFaults(hash, { mode: 0o644 })).toEqual([]);
    expect(warned({ mode: 0o644 })).toEqual([
      expect.stringMatching(/^every user of this machine can read the hashes in /),
    ]);
    expect(warned({ mode: 0o640 })).toEqual([]);
    expect(warned({ mode: 0o644, config: { ...REAL, readableSecrets: 'allow' } })).toEqual([]);
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/portico-settings.ts';
import { packageRoot } from '../../../src/lib/package-root.ts';
import { faultsOf, load } from './load-in-folder.ts';

const flag = (name: string, pointer: string, value: unknown) =>
  ({ source: `--${name}`, kind: 'flag', pointer, value }) as const;

describe('settings', () => {
  it('are those of strict mode with the embedded upstream and of observe mode with a real one, unless a mode is chosen', () => {
    expect(load('').mode.name).toBe('strict');
    expect(load('', { env: { UPSTREAM_URL: 'http://127.0.0.1:9/qa' } }).mode.name).toBe('observe');
    expect(load('mode: staging', { env: { UPSTREAM_URL: 'http://127.0.0.1:9/qa' } }).mode.name).toBe('staging');
  });

  it('resolve the contract folder relative to the file, if one is set', () => {
    expect(load('').contract.folder).toBeUndefined();
    expect(load('contract: { folder: ../other }').contract.folder).toMatch(/portico-config-[^/]*\/other$/);
    expect(load('contract: { folder: /srv/contract }').contract.folder).toBe('/srv/contract');
  });

  it('choose verifier and inferred operations by the upstream', () => {
    const embedded = load('');
    expect([embedded.embedded, embedded.authentication.verifier, embedded.contract.inferred]).toEqual([
      true,
      'file',
      true,
    ]);
    const real = load('upstream: { url: "http://127.0.0.1:9" }');
    expect([real.embedded, real.authentication.verifier, real.contract.inferred]).toEqual([false, 'upstream', false]);
    const chosen = load(
      'upstream: { url: "http://127.0.0.1:9" }\ncontract: { inferred: on }\nauthentication: { verifier: file }',
    );
    expect([chosen.authentication.verifier, chosen.contract.inferred]).toEqual(['file', true]);
  });

  it('give precedence to flags, then the environment, the file and the defaults, and name each source', () => {
    const settings = load('listen: { port: 1000, adminPort: 1001, host: 127.0.0.9 }', {
      env: { PORT: '2000', ADMIN_PORT: '2001' },
      flags: [flag('port', '/listen/port', 3000)],
    });
    expect(settings.listen).toMatchObject({ port: 3000, adminPort: 2001, host: '127.0.0.9', adminHost: '127.0.0.1' });
    expect(['/listen/port', '/listen/adminPort', '/listen/host', '/listen/adminHost'].map(settings.originOf)).toEqual([
      'flag',
      'environment',
      'file',
      'default',
    ]);
  });

  it('add defaults to partly configured mappings', () => {
    const settings = load('authentication: { failures: { limit: 3 } }\ncache: { freshSeconds: 5 }');
    expect(settings.authentication.failures).toMatchObject({ limit: 3, windowSeconds: 60, maxPairs: 10_000 });
    expect(settings.cache).toMatchObject({ freshSeconds: 5, staleIfErrorSeconds: 300 });
    expect(settings.listen).toMatchObject({ maxTargetBytes: 8192, maxHeaderBytes: 16_384, maxBodyBytes: 1_048_576 });
  });

  it('prefer checks and errors of an operation to global ones to those of the mode', () => {
    const settings = load(
      'checks: { undocumented: report }\noperations: { listIdeas: { checks: { responses: enforce }, errors: legacy } }',
    );
    expect(settings.checks).toMatchObject({ undocumented: 'report', responses: 'report', requests: 'enforce' });
    expect(settings.checksFor('listIdeas')).toMatchObject({ undocumented: 'report', responses: 'enforce' });
    expect(settings.checksFor('listQuestions')).toEqual(settings.checks);
    expect(settings.checksFor(undefined)).toEqual(settings.checks);
    expect([settings.errorsFor('listIdeas'), settings.errorsFor(undefined)]).toEqual(['legacy', 'normalized']);
  });

  it('do not mistake names of Object.prototype for operations', () => {
    const settings = load('');
    expect(settings.checksFor('constructor')).toEqual(settings.checks);
    expect(settings.errorsFor('__proto__')).toBe('normalized');
  });

  it('treat empty keys and empty variables as absent', () => {
    expect(load('cache:\nlisten:\n  port:\n', { env: { PORT: '', PORTICO_MODE: '' } }).listen.port).toBe(8080);
  });

  it('resolve the roles file relative to the configuration, or to the working directory for flags and variables', () => {
    expect(load('').roles.file).toMatch(/config[/\\]roles\.yaml$/);
    const typed = load('', { env: { PORTICO_ROLES: 'mine.yaml' } });
    expect(typed.roles.file).toMatch(/portico-config-\w+[/\\]mine\.yaml$/);
  });

  it('come from the package if the working directory has no configuration', () => {
    const cwd = mkdtempSync(join(tmpdir(), 'portico-empty-'));
    const settings = loadSettings({ env: {}, cwd });
    rmSync(cwd, { recursive: true });
    expect(resolve(cwd, settings.file)).toBe(join(packageRoot, 'config', 'portico.yaml'));
  });

  it('select a service account if the environment has its user name', () => {
    const settings = load('', { env: { UPSTREAM_USERNAME: 'robot', UPSTREAM_PASSWORD: 'secret' } });
    expect(settings.upstream.credentials).toEqual({ kind: 'service', username: 'robot', password: 'secret' });
  });
});

describe('configuration errors', () => {
  it('report an incomplete service account once', () => {
    expect(faultsOf('', { env: { UPSTREAM_PASSWORD: 'secret', UPSTREAM_URL: 'http://127.0.0.1:9' } })).toMatchObject([
      { source: 'UPSTREAM_PASSWORD', message: 'is set without UPSTREAM_USERNAME' },
    ]);
  });

  const REAL = 'upstream: { url: "http://127.0.0.1:9", credentials: { kind: service, username: a, ';
  it.each([
    ['mod: strict', '/mod', 'did you mean mode?'],
    // The admin side listens on all addresses, so without the misspelling the token would be required.
    [
      `adminTokn: x\nlisten: { adminHost: 0.0.0.0 }\nupstream: { url: "http://127.0.0.1:9" }`,
      '/adminTokn',
      'adminToken',
    ],
    [
      'listn: { adminHost: 0.0.0.0 }\nupstream: { url: "http://127.0.0.1:9" }\nadminToken: short-one',
      '/listn',
      'listen',
    ],
    ['upstraem: { url: "http://127.0.0.1:9" }\ncors: { origins: ["https://a.example"] }', '/upstraem', 'upstream'],
    ['upstream: { ulr: "http://127.0.0.1:9", alternates: ["http://127.0.0.1:8"] }', '/upstream/ulr', 'url'],
    [
      'adminTokenFil: x\nlisten: { adminHost: 0.0.0.0 }\nupstream: { url: "http://127.0.0.1:9" }',
      '/adminTokenFil',
      'adminTokenFile',
    ],
    ['redis: { tls: { certFile: a, keyfile: b }, url: "rediss://127.0.0.1:9" }', '/redis/tls/keyfile', 'keyFile'],
    ['cors: { orgins: ["https://a.example"] }', '/cors/orgins', 'origins'],
    ['listen: { tls: { certFile: a, keyfile: b } }', '/listen/tls/keyfile', 'keyFile'],
    ['redis: { sentinel: { name: a, node: ["a:1"] } }', '/redis/sentinel/node', 'nodes'],
    ['undocumented: { allow: [{ metod: GET, path: /services/v2/x }] }', '/undocumented/allow/0/metod', 'method'],
    [`${REAL} passwrd: x } }`, '/upstream/credentials/passwrd', 'password'],
    [`ledger: { store: redis }\nredis: { ulr: "redis://127.0.0.1:9" }`, '/redis/ulr', 'url'],
    [`ledger: { store: redis }\nredsi: { url: "redis://127.0.0.1:9" }`, '/redsi', 'redis'],
  ])('name a misspelled key only once: %s', (yaml, pointer, words) => {
    expect(faultsOf(yaml)).toEqual([
      {
        source: expect.stringContaining('config/portico.yaml:') as string,
        pointer,
        message: 'is not a known key',
        suggestion: expect.stringContaining(words) as string,
      },
    ]);
  });

  it.each([
    'a: [1\nb: 2',
    'mode: "strict',
    '{"mode": "strict",,}',
    'mode: strict\n listen: {}',
    'mode: @x\nlisten: @y',
    'x: y: z',
  ])('in the syntax are one error: %s', (yaml) => {
    // The user name and the token may be in the file, so nothing is known about them.
    const env = { UPSTREAM_PASSWORD_FILE: 'x', PORTICO_ADMIN_TOKEN: 'short', ADMIN_HOST: '0.0.0.0' };
    const faults = faultsOf(yaml, { env: { ADMIN_HOST: env.ADMIN_HOST } });
    expect(faults).toEqual([
      {
        source: expect.stringMatching(/portico.yaml:\d+$/) as string,
        pointer: '',
        message: expect.any(String) as string,
      },
    ]);
  });

  it('are all reported in one run, each with its place and a suggestion', () => {
    const yaml = `mode: observ
port: 3
lissten:
  port: 1
checks:
  response: off
  requests: warn
upstream:
  credentials: { kind: service, username: robot }
operations:
  listIdeas: { cachee: {} }
`;
    expect(faultsOf(yaml, { env: { PORT: 'eighty', PORTICO_LOG_LEVEL: 'inf' } })).toMatchInlineSnapshot(`
      [
        {
          "message": "must be one of observe, staging, strict",
          "pointer": "/mode",
          "source": "config/portico.yaml:1",
          "suggestion": "did you mean observe?",
        },
        {
          "message": "is not a known key",
          "pointer": "/port",
          "source": "config/portico.yaml:2",
          "suggestion": "did you mean listen.port?",
        },
        {
          "message": "is not a known key",
          "pointer": "/lissten",
          "source": "config/portico.yaml:3",
          "suggestion": "did you mean listen?",
        },
        {
          "message": "is not a known key",
          "pointer": "/checks/response",
          "source": "config/portico.yaml:6",
          "suggestion": "did you mean responses?",
        },
        {
          "message": "must be one of off, report, enforce",
          "pointer": "/checks/requests",
          "source": "config/portico.yaml:7",
        },
        {
          "message": "requires exactly one of password, passwordEnv, passwordFile",
          "pointer": "/upstream/credentials",
          "source": "config/portico.yaml:9",
        },
        {
          "message": "is not a known key",
          "pointer": "/operations/listIdeas/cachee",
          "source": "config/portico.yaml:11",
          "suggestion": "did you mean cache?",
        },
        {
          "message": "must be a whole number from 0 to 65535",
          "pointer": "",
          "source": "PORT",
        },
        {
          "message": "must be one of trace, debug, info, warn, error, fatal, silent",
          "pointer": "",
          "source": "PORTICO_LOG_LEVEL",
          "suggestion": "did you mean info?",
        },
      ]
    `);
  });

  it.each([
    ['listen: { maxBodyBytes: 1 }', 'must be at least 1024'],
    ['levels: { overrides: { maxHours: 999 } }', 'must be at most 168'],
    ['levels: { overrides: { maxHours: 0 } }', 'must be greater than 0'],
  ])('state the bound that a number violates: %s', (yaml, message) => {
    expect(faultsOf(yaml).map((fault) => fault.message)).toEqual([message]);
  });

  it('between keys are reported together with errors of single keys', () => {
    const faults = faultsOf(
      'mode: observe\ncache: { enabled: true, freshSecond: 3 }\nlisten: { port: 8081, trustedProxies: [1] }',
    );
    expect(faults.map(({ pointer }) => pointer)).toEqual([
      '/listen/adminPort',
      '/cache/freshSecond',
      '/cache/enabled',
      '/listen/trustedProxies/0',
    ]);
  });

  it('never contain a value, which may be a secret', () => {
    const faults = faultsOf(
      'adminToken: [s3cret]\nupstream: { credentials: { kind: service, username: "s3cret:x" } }',
      {
        env: { UPSTREAM_URL: 'ftp://user:s3cret@127.0.0.1/', PORTICO_ADMIN_TOKEN: 's3cret' },
      },
    );
    expect(faults.length).toBeGreaterThan(1);
    expect(JSON.stringify(faults)).not.toContain('s3cret');
  });

  it.each([
    ['a duplicate key', 'mode: strict\nmode: observe', 2],
    ['a malformed line', 'mode: strict\nlisten: [', 2],
    ['a list', '- mode', undefined],
    ['a language-specific tag', 'mode: !!python/object x', 1],
  ])('have the line number of %s', (_what, yaml, line) => {
    const [first] = faultsOf(yaml);
    expect(first?.source).toBe(`config/portico.yaml${line === undefined ? '' : `:${line}`}`);
  });

  it.each(['!', '|', '>', '*', '%', '@', '`', '!<tag:', '"\\q', '[', '{', '"x" ', 'a: ', '&x *'])(
    'never contain a secret that is invalid YAML: %s',
    (before) => {
      const faults = faultsOf(`mode: strict\nadminToken: ${before}s3cretWord`);
      expect(faults).not.toEqual([]);
      expect(JSON.stringify(faults)).not.toContain('s3cret');
    },
  );

  it.each([
    ['%s3cretWord x\n---\nmode: strict', 'directive'],
    ['adminToken: *s3cretWord', 'alias without an anchor'],
    ['adminToken: |s3cretWord', 'starts with | or > must be quoted'],
    ['adminToken: !s3cretWord', 'starts with ! must be quoted'],
  ])('describe the problem with %j without the secret', (yaml, words) => {
    const text = JSON.stringify(faultsOf(yaml));
    expect(text).toContain(words);
    expect(text).not.toContain('s3cret');
  });

  it('include aliases that expand exponentially', () => {
    const bomb = [
      'a0: &a0 [x]',
      ...Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(9)}]`),
    ];
    expect(faultsOf(bomb.join('\n'))).toEqual([
      { source: 'config/portico.yaml', pointer: '', message: 'uses too many aliases' },
    ]);
  });

  it('are reported for keys of Object.prototype', () => {
    expect(faultsOf('__proto__: { polluted: 1 }\nlisten: { __proto__: { polluted: 1 } }')).toHaveLength(2);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('report misspelled variables, but ignore those of the platform', () => {
    const env = {
      PORTICO_MOD: 'strict',
      PORTICO_SERVICE_HOST: '10.0.0.1',
      PORTICO_PORT: 'tcp://10.0.0.1:80',
      UPSTREAM_URI: 'x',
    };
    expect(faultsOf('', { env })).toMatchObject([
      { source: 'PORTICO_MOD', suggestion: 'did you mean PORTICO_MODE?' },
      { source: 'UPSTREAM_URI', suggestion: 'did you mean UPSTREAM_URL?' },
    ]);
  });

  it('report a missing configuration file', () => {
    expect(faultsOf('', { env: { PORTICO_CONFIG: 'nowhere.yaml' } })).toMatchObject([
      { source: 'nowhere.yaml', message: 'cannot be read: there is no such file or folder (ENOENT)' },
    ]);
  });

  it('name the flag or variable with an invalid value', () => {
    expect(faultsOf('', { flags: [flag('port', '/listen/port', 'x')] })).toMatchObject([
      { source: '--port', pointer: '' },
    ]);
    expect(faultsOf('', { env: { UPSTREAM_USERNAME: 'robot' } })).toMatchObject([
      { source: 'UPSTREAM_USERNAME', message: 'requires exactly one of password, passwordEnv, passwordFile' },
    ]);
  });
});

import type { AuditedState } from '../../../src/engine/config/settings.ts';
import type { LevelEntry } from '../../../src/features/levels/level-entry.ts';
import { decisionWith, overrideWith } from '../../features/levels/entries.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadPermissions, readRoles } from '../../../src/engine/load-start.ts';
import { audit, AUDIT_RULES as ENGINE_RULES } from '../../../src/workbench/audit/audit.ts';
import { FEATURES } from '../../../src/features.ts';
import type { AuditSubject } from '../../../src/workbench/audit/audit-rule.ts';
import { CONTRACT_DEFAULTS, readSettings } from '../../../src/portico-settings.ts';
import type { PlainObject } from '../../../src/lib/plain-object.ts';
import { loadContract } from '../../../src/engine/contract/load-contract.ts';
import { packageRoot } from '../../../src/lib/package-root.ts';
import { hashPassword } from '../../../src/engine/identity/password-hash.ts';
import { isAtLeast, SEVERITIES } from '../../../src/engine/model/severity.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { TOKENS_ON } from '../../builders/tokens-on.ts';
import { deployFile } from '../../deploy/image.ts';

const AUDIT_RULES = [...ENGINE_RULES, ...FEATURES.flatMap(({ auditRules = [] }) => auditRules)];

const folder = tempFolder();
const contract = loadContract(CONTRACT_DEFAULTS);

/** The default roles in these tests: one role, `anonymous`, without permissions. */
const NO_ROLES = { roles: { anonymous: { permissions: [] } } };

const HASH = await hashPassword('correct horse');
/** A roles file with one account that has a password. */
const WITH_HASH = { ...NO_ROLES, accounts: [{ name: 'anna', roles: ['anonymous'], passwordHash: HASH }] };

/** A roles file with one account. */
const WITH_ACCOUNT = { ...NO_ROLES, accounts: [{ name: 'anna', roles: ['anonymous'] }] };

interface Situation {
  readonly config: PlainObject;
  readonly roles?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly unmapped?: PlainObject;
  readonly parts?: Partial<AuditSubject>;
}

let files = 0;

/** Returns the state in which a level differs from the configuration. */
const stored = (entry: LevelEntry): AuditedState => ({
  prepared: { state: { contracts: [], entries: [entry] } },
  contract,
  now: 0,
});

/** Builds the subject of an audit. The configuration must be valid. */
function subjectOf({ config, roles = NO_ROLES, env = {}, unmapped = {}, parts = {} }: Situation): AuditSubject {
  files += 1;
  const file = join(folder, `roles-${files}.yaml`);
  writeFileSync(file, JSON.stringify(roles), { mode: 0o600 });
  const { settings, faults } = readSettings({ env, cwd: folder, given: { ...config, roles: { file, ...unmapped } } });
  expect(faults).toEqual([]);
  // This call fails if the gateway would not start with these roles.
  loadPermissions(settings, contract);
  return {
    settings,
    operations: contract.operations,
    roles: readRoles(settings),
    stateOf: () => ({ prepared: undefined, contract, now: 0 }),
    env,
    configFile: join(folder, 'portico.yaml'),
    modeOf: () => 0o100640,
    ...parts,
  };
}

const rulesOf = (situation: Situation) => audit(subjectOf(situation)).map(({ rule }) => rule);

const upstream = { url: 'https://qa.example.org/qa' };
const real = (config: PlainObject = {}): PlainObject => ({ upstream, ...config });
const strict = (config: PlainObject = {}): PlainObject => real({ mode: 'strict', ...config });
const ENDED = { operations: ['listIdeas'], since: '1969-01-01', sunset: '1969-02-01' };
const listen = (options: PlainObject): PlainObject => strict({ listen: options });
const anonymous = (...permissions: readonly string[]) => ({ roles: { anonymous: { permissions } } });
const shared = (own: PlainObject, more: PlainObject = {}) =>
  strict({ operations: { listAnswerComments: { cache: { assumeImpersonal: true, ...own } } }, ...more });
const service = { kind: 'service', username: 'portico', passwordFile: join(folder, 'password') };
writeFileSync(service.passwordFile, 'a secret\n', { mode: 0o600 });

const allowing = (entry: PlainObject): PlainObject => ({
  undocumented: { allow: [{ method: 'POST', path: '/services/v2/node/{id}.json', ...entry }] },
});

/** For each rule, a situation that triggers it, and the same situation after the suggested fix. */
const ROWS: Readonly<Record<string, readonly [risky: Situation, fixed: Situation]>> = {
  'nothing-enforced': [{ config: real() }, { config: real({ mode: 'staging' }) }],
  'authentication-off': [
    { config: strict({ checks: { authentication: 'off' } }) },
    { config: strict({ checks: { authentication: 'report' } }) },
  ],
  'permissions-off': [
    { config: strict({ operations: { getComment: { checks: { permissions: 'off' } } } }) },
    { config: strict({ operations: { getComment: { checks: { permissions: 'enforce' } } } }) },
  ],
  'anonymous-may-write': [
    {
      config: strict({ authentication: { anonymous: 'allow' }, ...allowing({ permission: 'Edit nodes' }) }),
      roles: anonymous('Edit nodes'),
    },
    { config: strict({ authentication: { anonymous: 'allow' }, ...allowing({ permission: 'Edit nodes' }) }) },
  ],
  'anonymous-holds-privileges': [
    { config: strict(), roles: anonymous('View users list', 'Edit users and groups') },
    { config: strict(), roles: anonymous('View users list') },
  ],
  'anonymous-admitted': [
    { config: strict({ authentication: { anonymous: 'allow' } }) },
    { config: strict({ authentication: { anonymous: 'deny' } }) },
  ],
  'unmapped-callers-delegated': [{ config: strict() }, { config: strict(), unmapped: { unmapped: 'deny' } }],
  'verified-for-long': [
    { config: strict({ authentication: { cacheSeconds: 3600 } }) },
    { config: strict({ authentication: { cacheSeconds: 300 } }) },
  ],
  'password-guessing': [
    { config: strict({ authentication: { failures: { limit: 100 } } }) },
    { config: strict({ authentication: { failures: { limit: 30 } } }) },
  ],
  'wide-passthrough': [
    { config: strict(allowing({ path: '/services/v2/node/**' })) },
    { config: strict(allowing({ path: '/services/v2/node/**', permission: 'Edit nodes' })) },
  ],
  'names-ignore-case': [
    { config: strict(), roles: WITH_ACCOUNT, unmapped: { names: 'ignoreCase' } },
    { config: strict(), roles: WITH_ACCOUNT, unmapped: { names: 'exact' } },
  ],
  'names-exact': [
    { config: strict(), roles: WITH_ACCOUNT },
    { config: strict(), roles: WITH_ACCOUNT, unmapped: { names: 'ignoreCase' } },
  ],
  'demo-accounts-reachable': [
    {
      config: { listen: { host: '0.0.0.0' } },
      roles: { ...NO_ROLES, accounts: [{ name: 'admin', demo: true, roles: [] }] },
    },
    {
      config: { listen: { host: '127.0.0.1' } },
      roles: { ...NO_ROLES, accounts: [{ name: 'admin', demo: true, roles: [] }] },
    },
  ],
  'weak-local-admin-token': [
    { config: strict({ adminToken: 'aaaaaaaabbbbbbbb' }) },
    { config: strict({ adminToken: 'q7Vd0xLk3MzR9tYw' }) },
  ],
  'readable-secrets': [
    {
      config: strict({ upstream: { ...upstream, credentials: service } }),
      parts: { modeOf: () => 0o100644 },
    },
    {
      config: strict({ upstream: { ...upstream, credentials: service } }),
      parts: { modeOf: () => 0o100640 },
    },
  ],
  'readable-hashes': [
    { config: strict(), roles: WITH_HASH, parts: { modeOf: () => 0o100644 } },
    { config: strict(), roles: WITH_HASH, parts: { modeOf: () => 0o100640 } },
  ],
  'shared-pages-not-sealed': [
    { config: strict({ redis: { url: 'redis://127.0.0.1:1' } }) },
    { config: strict({ redis: { url: 'redis://127.0.0.1:1', sealKeyFile: '/etc/portico/seal.key' } }) },
  ],
  'secret-in-configuration': [
    { config: strict({ adminToken: 'q7Vd0xLk3MzR9tYw' }) },
    { config: strict(), env: { PORTICO_ADMIN_TOKEN: 'q7Vd0xLk3MzR9tYw' } },
  ],
  'certificates-not-verified': [
    { config: strict(), env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } },
    { config: strict(), env: { NODE_EXTRA_CA_CERTS: '/etc/ca.pem' } },
  ],
  'everyone-is-a-proxy': [
    { config: listen({ trustedProxies: ['0.0.0.0/0'] }) },
    { config: listen({ trustedProxies: ['10.0.0.0/8', 'fc00::/7', 'loopback', '203.0.113.7'] }) },
  ],
  'passwords-in-the-clear': [
    { config: listen({ host: '0.0.0.0' }) },
    { config: listen({ host: '0.0.0.0', trustedProxies: ['10.0.0.0/8'] }) },
  ],
  'public-origin-in-the-clear': [
    { config: strict({ publicOrigin: 'http://qa.example.org' }) },
    { config: strict({ publicOrigin: 'https://qa.example.org' }) },
  ],
  'upstream-in-the-clear': [
    { config: strict({ upstream: { url: 'http://qa.example.org/qa' } }) },
    { config: strict({ upstream: { url: 'http://10.1.2.3/qa' } }) },
  ],
  'spans-in-the-clear': [
    { config: strict({ tracing: { endpoint: 'http://otlp.example.org:4318' } }) },
    { config: strict({ tracing: { endpoint: 'https://otlp.example.org:4318' } }) },
  ],
  'clients-choose-sampling': [
    { config: strict({ tracing: { endpoint: 'http://127.0.0.1:4318', followSampled: 'everyone' } }) },
    { config: strict({ tracing: { endpoint: 'http://127.0.0.1:4318' } }) },
  ],
  'admin-in-the-clear': [
    { config: listen({ adminHost: '0.0.0.0' }), env: { PORTICO_ADMIN_TOKEN: 'q7Vd0xLk3MzR9tYw' } },
    { config: listen({ adminHost: '127.0.0.1' }) },
  ],
  'rewriting-without-origin': [
    { config: strict({ rewriteUrls: true }) },
    { config: strict({ rewriteUrls: true, publicOrigin: 'https://qa.example.org' }) },
  ],
  'cors-for-everyone': [
    { config: strict({ cors: { origins: ['*'] } }) },
    { config: strict({ cors: { origins: ['https://app.example.org'] } }) },
  ],
  'sunset-passed': [
    { config: strict({ deprecation: { entries: [{ ...ENDED, refuseAfterSunset: false }] } }) },
    { config: strict({ deprecation: { entries: [{ ...ENDED, refuseAfterSunset: true }] } }) },
  ],
  'cutover-in-the-clear': [
    { config: strict({ cutover: { url: 'http://qa-new.example.org', operations: { '*': {} } } }) },
    { config: strict({ cutover: { url: 'https://qa-new.example.org', operations: { '*': {} } } }) },
  ],
  'cors-in-the-clear': [
    { config: strict({ cors: { origins: ['http://app.example.org'] } }) },
    { config: strict({ cors: { origins: ['https://app.example.org', 'http://localhost:3000'] } }) },
  ],
  'contract-status-exposed': [
    { config: listen({ host: '0.0.0.0' }) },
    { config: { ...listen({ host: '0.0.0.0' }), contractStatusHeader: false } },
  ],
  'personal-pages-shared': [{ config: shared({ audience: 'public' }) }, { config: shared({ audience: 'caller' }) }],
  'private-fields-shared': [
    { config: shared({ audience: 'public' }, { checks: { permissions: 'report' } }) },
    { config: shared({ audience: 'public' }, { checks: { permissions: 'enforce' } }) },
  ],
  'shared-pages-not-compared': [
    { config: shared({ audience: 'public' }, { cache: { sampleShared: 0 } }) },
    { config: shared({ audience: 'public' }, { cache: { sampleShared: 0.01 } }) },
  ],
  'broken-pages-stored': [
    { config: strict({ cache: { store: 'wellFormed' } }) },
    { config: strict({ cache: { store: 'accepted' } }) },
  ],
  'stale-for-long': [
    { config: strict({ cache: { staleIfErrorSeconds: 604_800 } }) },
    { config: strict({ cache: { staleIfErrorSeconds: 86_400 } }) },
  ],
  'anyone-bypasses-the-cache': [
    { config: strict({ cache: { noCacheRoles: ['anonymous'] } }) },
    { config: strict({ cache: { noCacheRoles: [] } }) },
  ],
  'outlasts-the-balancer': [
    { config: strict({ upstream: { ...upstream, totalTimeoutMs: 60_000 } }) },
    { config: strict({ upstream: { ...upstream, totalTimeoutMs: 55_000 } }) },
  ],
  'keep-alive-too-short': [{ config: listen({ keepAliveSeconds: 60 }) }, { config: listen({ keepAliveSeconds: 65 }) }],
  'idle-upstream-connections': [
    { config: strict({ upstream: { ...upstream, idleTimeoutMs: 60_000 } }) },
    { config: strict({ upstream: { ...upstream, idleTimeoutMs: 4000 } }) },
  ],
  'slow-clients-hold-connections': [
    { config: listen({ requestTimeoutSeconds: 600 }) },
    { config: listen({ requestTimeoutSeconds: 300 }) },
  ],
  'circuit-off': [
    { config: strict({ upstream: { ...upstream, circuit: { failures: 100_000 } } }) },
    { config: strict({ upstream: { ...upstream, circuit: { failures: 20 } } }) },
  ],
  'limits-far-above-defaults': [
    { config: strict({ upstream: { ...upstream, concurrency: 1000 } }) },
    { config: strict({ upstream: { ...upstream, concurrency: 64 } }) },
  ],
  'no-lame-duck': [{ config: listen({ lameDuckSeconds: 0 }) }, { config: listen({ lameDuckSeconds: 5 }) }],
  'drain-shorter-than-requests': [{ config: listen({ drainSeconds: 10 }) }, { config: listen({ drainSeconds: 20 }) }],
  'names-in-logs': [
    { config: strict({ logging: { principalNames: true } }) },
    { config: strict({ logging: { principalNames: false } }) },
  ],
  'verbose-log': [
    { config: strict({ logging: { level: 'debug' } }) },
    { config: strict({ logging: { level: 'info' } }) },
  ],
  'ledger-in-memory': [{ config: strict({ ledger: { file: ':memory:' } }) }, { config: strict() }],
  'changes-in-memory': [{ config: strict({ levels: { file: ':memory:' } }) }, { config: strict() }],
  'tokens-in-memory': [
    { config: strict({ readableSecrets: 'allow', tokens: TOKENS_ON }) },
    { config: strict({ readableSecrets: 'allow', tokens: { ...TOKENS_ON, file: 'tokens.json' } }) },
  ],
  'mirror-in-the-clear': [
    { config: strict({ mirror: { url: 'http://new.example.org', share: 0.1 } }) },
    { config: strict({ mirror: { url: 'https://new.example.org', share: 0.1 } }) },
  ],
  'events-in-memory': [
    { config: strict({ changes: { lists: [], folder: ':memory:' } }) },
    { config: strict({ changes: { lists: [] } }) },
  ],
  'no-baseline': [{ config: strict() }, { config: strict({ contract: { baseline: 'baseline.json' } }) }],
  'no-release': [{ config: strict() }, { config: strict({ release: '2026.11' }) }],
  'levels-lowered': [
    {
      config: strict(),
      parts: {
        stateOf: () => stored(decisionWith({ contract: contract.version })),
      },
    },
    { config: strict() },
  ],
  'overrides-active': [
    {
      config: strict(),
      parts: {
        stateOf: () => stored(overrideWith({ since: 1, until: 2 })),
      },
    },
    { config: strict() },
  ],
  'repeated-uploads': [
    { config: strict({ gdpr: { duplicateWindowSeconds: 0 } }) },
    { config: strict({ gdpr: { duplicateWindowSeconds: 600 } }) },
  ],
  'traffic-sampled': [
    { config: strict({ learn: { traffic: true } }) },
    { config: strict({ learn: { traffic: false } }) },
  ],
};

describe('an audit', () => {
  it('has a test for each rule', () => {
    expect(Object.keys(ROWS).toSorted()).toEqual(AUDIT_RULES.map(({ id }) => id).toSorted());
  });

  it.each(Object.entries(ROWS))('reports %s, and not after the fix', (rule, [risky, fixed]) => {
    expect(rulesOf(risky)).toContain(rule);
    expect(rulesOf(fixed)).not.toContain(rule);
  });

  it('lists the worst findings first, and always in the same order', () => {
    const situation = { config: listen({ host: '0.0.0.0', trustedProxies: ['0.0.0.0/0'], lameDuckSeconds: 0 }) };
    const severities = audit(subjectOf(situation)).map(({ severity }) => SEVERITIES.indexOf(severity));
    expect(severities).toEqual(severities.toSorted((one, other) => one - other));
    expect(rulesOf(situation)).toEqual(rulesOf(situation));
  });

  it('names the source of each value, and `default` for a value that is not set', () => {
    const sources = audit(subjectOf({ config: strict({ logging: { level: 'debug' } }) }));
    expect(sources.find(({ rule }) => rule === 'verbose-log')?.source).not.toBe('default');
    expect(sources.find(({ rule }) => rule === 'no-release')?.source).toBe('default');
  });

  // Audit reports appear in CI output, so a report must not contain the secrets that it warns about.
  it.each([['hunter22', '127.0.0.1']])('never contains a token or a password: %s, on %s', (adminToken, adminHost) => {
    const text = JSON.stringify(
      audit(
        subjectOf({
          config: strict({
            adminToken,
            listen: { adminHost },
            upstream: { ...upstream, credentials: { kind: 'service', username: 'portico', password: 'hunter3' } },
          }),
        }),
      ),
    );
    expect(text).not.toMatch(/hunter/);
  });
});

describe('no finding of severity high or worse', () => {
  const severe = (situation: Situation) =>
    audit(subjectOf(situation))
      .filter(({ severity }) => isAtLeast(severity, 'high'))
      .map(({ rule }) => rule);
  const packaged = parse(readFileSync(join(packageRoot, 'config', 'roles.yaml'), 'utf8')) as object;

  it('comes from the default configuration', () => {
    expect(severe({ config: {}, roles: packaged })).toEqual([]);
  });

  it('comes from the default configuration with a real upstream, in any mode', () => {
    for (const mode of ['observe', 'staging', 'strict'])
      expect(severe({ config: real({ mode }), roles: packaged })).toEqual([]);
  });

  it('comes from the container, which listens on all addresses', () => {
    const env = { HOST: '0.0.0.0', ADMIN_HOST: '0.0.0.0', PORTICO_ADMIN_TOKEN: 'q7Vd0xLk3MzR9tYw' };
    expect(severe({ config: {}, roles: packaged, env })).toEqual([]);
  });

  it('comes from the Kubernetes example', () => {
    const objects = parseAllDocuments(deployFile('kubernetes.yaml')).map(
      (one) => one.toJS() as { kind: string; data?: Record<string, string> } | null,
    );
    const data = objects.find((one) => one?.kind === 'ConfigMap')?.data ?? {};
    expect(Object.keys(data)).toEqual(['portico.yaml', 'roles.yaml']);
    const env = { HOST: '0.0.0.0', ADMIN_HOST: '0.0.0.0', PORTICO_ADMIN_TOKEN: 'q7Vd0xLk3MzR9tYw' };
    const roles = parse(data['roles.yaml'] ?? '') as object;
    expect(severe({ config: parse(data['portico.yaml'] ?? '') as PlainObject, roles, env })).toEqual([]);
  });
});

describe('secrets outside the configuration file', () => {
  const tokenFile = join(folder, 'admin-token');
  writeFileSync(tokenFile, 'q7Vd0xLk3MzR9tYw\n', { mode: 0o600 });
  const idsOf = rulesOf;

  it('are not reported as secrets in it', () => {
    const config = {
      adminTokenFile: tokenFile,
      upstream: {
        ...upstream,
        credentials: { kind: 'service', username: 'portico', passwordFile: tokenFile },
      },
      redis: { url: 'redis://127.0.0.1:1', passwordFile: tokenFile },
    };
    expect(idsOf({ config: strict(config) })).not.toContain('secret-in-configuration');
    expect(idsOf({ config: strict({ adminToken: 'q7Vd0xLk3MzR9tYw' }) })).toContain('secret-in-configuration');
  });

  it('are only a low risk if they are hashes in the roles file', () => {
    const ids = idsOf({ config: strict(), roles: WITH_HASH, parts: { modeOf: () => 0o100644 } });
    expect(ids).toContain('readable-hashes');
    expect(ids).not.toContain('readable-secrets');
  });
});

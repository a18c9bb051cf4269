import { createLoginLimits } from '../../../src/engine/identity/login-limits.ts';
import { createRevocations } from '../../../src/engine/identity/revocations.ts';
import { createKeyedHash } from '../../../src/engine/identity/verify-credential.ts';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import { createCredentialProbe } from '../../../src/engine/upstream/credential-probe.ts';
import { createSessions } from '../../../src/engine/upstream/sessions.ts';
import { describe, expect, it } from 'vitest';
import {
  openAuthenticator,
  openTrustingAuthenticator,
  refusesByIdentity,
} from '../../../src/engine/identity/open-authenticator.ts';
import type { RolesFile } from '../../../src/engine/permissions/roles-file.ts';
import { hashPassword } from '../../../src/engine/identity/password-hash.ts';
import { basic } from '../../builders/call.ts';
import { failureOf, JSON_TYPE } from '../../builders/exchange.ts';
import { fakeExchanges } from '../../builders/fake-exchanges.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { until } from '../../builders/until.ts';
import { REAL, settingsOf } from '../../builders/settings-of.ts';

const strict = { ...REAL, mode: 'strict', authentication: { verifier: 'upstream' }, roles: { unmapped: 'delegate' } };
const nobody: RolesFile = { source: 'roles.yaml', unmapped: undefined, roles: new Map(), accounts: [] };

function loginMemory({ authentication: { failures } }: ReturnType<typeof settingsOf>) {
  const sharing = openAlone(createTestClock());
  return {
    hash: createKeyedHash(),
    limits: createLoginLimits(sharing.windows('logins', failures.maxPairs), failures),
    revocations: createRevocations(sharing, () => true),
  };
}

function authenticating(config: Readonly<Record<string, unknown>>, roles = nobody) {
  const { upstream, sent } = fakeExchanges(({ headers }) => {
    const right = headers.some(([, value]) => value === basic('alice'));
    return { status: right ? 404 : 401, headers: JSON_TYPE, body: Buffer.from('{}'), attempts: 1 };
  });
  const settings = settingsOf(config);
  const authenticator = openAuthenticator(settings, {
    roles,
    probe: createCredentialProbe(
      upstream.exchange,
      createSessions([], createTestClock()),
      settings.authentication.probe,
    ),
    clock: createTestClock(),
    memory: loginMemory(settings),
  });
  const level = settings.checks.authentication;
  const clientAddress = () => '192.0.2.1';
  const authenticate = async (name: string) =>
    authenticator.authenticate({ authorizationHeader: basic(name), clientAddress, level, now: 1_000 });
  return { sent, authenticate, authenticator };
}

describe('the authenticator', () => {
  it('sends the configured probe with the credential to the upstream', async () => {
    const { sent, authenticate } = authenticating(strict);
    expect((await authenticate('alice')).principal).toMatchObject({ kind: 'verified', name: 'alice' });
    expect(sent.at(-1)).toMatchObject({ method: 'GET', target: '/services/v2/jobs/gdpr/0.json', mode: 'buffered' });
    expect(sent.at(-1)?.headers).toContainEqual(['Accept', 'application/json']);
    expect(await failureOf(authenticate('mallory'))).toMatchObject({ code: 'credentials_refused' });
  });

  it('sends no probe in observe mode, whatever credentials clients send', async () => {
    const { sent, authenticate, authenticator } = authenticating({ ...REAL, mode: 'observe' });
    expect((await authenticate('alice')).principal).toMatchObject({ kind: 'unverified', name: 'alice' });
    await authenticator.calibrate();
    await authenticate('alice');
    expect(sent).toEqual([]);
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['authentication is only reported', { ...strict, checks: { authentication: 'report', permissions: 'report' } }],
    [
      'one operation enforces it in observe mode',
      { ...strict, mode: 'observe', operations: { listQuestions: { checks: { authentication: 'enforce' } } } },
    ],
  ])('sends a probe if %s', async (_where, config) => {
    const { sent, authenticate } = authenticating(config);
    await authenticate('alice');
    await until(() => sent.length > 0);
  });

  it('checks credentials with the roles file if that is configured', async () => {
    const passwordHash = await hashPassword('bob', { memory: 8, passes: 1, parallelism: 1 });
    const account = { name: 'bob', roles: [], groups: [], flags: [], demo: false, passwordHash };
    const { sent, authenticate } = authenticating({}, { ...nobody, accounts: [account] });
    expect((await authenticate('bob')).principal.kind).toBe('verified');
    expect(await failureOf(authenticate('alice'))).toMatchObject({ code: 'credentials_refused' });
    expect(sent).toEqual([]);
  });
});

it('a password is verified before the request goes on, even if authentication is only reported', async () => {
  const passwordHash = await hashPassword('bob', { memory: 8, passes: 1, parallelism: 1 });
  const accounts = [{ name: 'bob', roles: [], groups: [], flags: [], demo: false, passwordHash }];
  const { authenticate } = authenticating({ checks: { authentication: 'report' } }, { ...nobody, accounts });
  expect((await authenticate('bob')).principal.kind).toBe('verified');
});

describe('the authenticator of a dry run', () => {
  const account = { name: 'bob', roles: [], groups: [], flags: [], demo: false };
  const decides = async (
    config: Readonly<Record<string, unknown>>,
    name: string,
    accounts: RolesFile['accounts'] = [],
  ) => {
    const settings = settingsOf(config);
    const authenticator = openTrustingAuthenticator(settings, {
      roles: { ...nobody, accounts },
      clock: createTestClock(),
      memory: { hash: createKeyedHash() },
    });
    const input = { authorizationHeader: basic(name, 'any'), clientAddress: () => '192.0.2.1', now: 1_000 };
    return authenticator.authenticate({ ...input, level: 'enforce' });
  };

  it('regards every password of an account as right, and no other name', async () => {
    const accounts = [
      { ...account, passwordHash: 'not read' },
      { ...account, name: 'mapped only', passwordHash: undefined },
    ];
    expect((await decides({}, 'bob', accounts)).principal).toMatchObject({ kind: 'verified', name: 'bob' });
    for (const name of ['mapped only', 'Bob', 'mallory'])
      expect(await failureOf(decides({}, name, accounts))).toMatchObject({ code: 'credentials_refused' });
    const ignoring = { roles: { names: 'ignoreCase' } };
    expect((await decides(ignoring, 'BOB', accounts)).principal).toMatchObject({ kind: 'verified' });
  });

  it('regards every credential as right that the upstream would verify', async () => {
    expect((await decides(strict, 'alice')).principal).toMatchObject({ kind: 'verified', name: 'alice' });
    const error = await failureOf(decides({ ...strict, mode: 'observe' }, 'alice'));
    expect(error).toMatchObject({ code: 'verification_unavailable', headers: { 'Retry-After': '1' } });
  });

  it('counts no failed login', async () => {
    for (let count = 0; count < 30; count += 1)
      expect(await failureOf(decides({}, 'mallory'))).toMatchObject({ code: 'credentials_refused' });
  });
});

describe("refusals depend on the caller's identity", () => {
  it('if authentication is enforced, globally or for one operation', () => {
    const operations = { listQuestions: { checks: { authentication: 'enforce' } } };
    expect(refusesByIdentity(settingsOf(strict))).toBe(true);
    expect(refusesByIdentity(settingsOf({ ...REAL, mode: 'observe' }))).toBe(false);
    expect(refusesByIdentity(settingsOf({ ...strict, mode: 'observe', operations }))).toBe(true);
  });

  it('if permissions are enforced and credentials are checked', () => {
    const withLevels = (authentication: string, permissions: string) =>
      refusesByIdentity(settingsOf({ ...strict, checks: { authentication, permissions } }));
    expect(withLevels('report', 'enforce')).toBe(true);
    expect(withLevels('off', 'enforce')).toBe(false);
    expect(withLevels('report', 'report')).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { authenticator, loginLimits, revocations, verifierTests } from '../../../src/engine/identity/services.ts';
import { createLoginLimits } from '../../../src/engine/identity/login-limits.ts';
import { createKeyedHash } from '../../../src/engine/identity/verify-credential.ts';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import { REAL, settingsOf } from '../../builders/settings-of.ts';
import { createTestClock } from '../../builders/test-clock.ts';

type Needs = Parameters<typeof authenticator.start>[0];

/** Returns what the services need. `revoked` receives what revocations apply to. */
function needsOf(revoked: unknown[], config: Readonly<Record<string, unknown>> = { ...REAL, mode: 'observe' }): Needs {
  const clock = createTestClock();
  const sharing = openAlone(clock);
  const settings = settingsOf(config);
  const { failures } = settings.authentication;
  return {
    settings,
    start: { roles: { source: 'roles.yaml', accounts: [] }, address: {} },
    clock,
    sharing,
    changeFollower: { mayServe: () => true },
    credentialProbe: () => Promise.reject(new Error('not asked')),
    credentialHash: createKeyedHash(),
    loginLimits: createLoginLimits(sharing.windows('logins', failures.maxPairs), failures),
    revocations: {
      announce: () => Promise.resolve(),
      mayTrust: undefined,
      applyTo: (memory: unknown) => void revoked.push(memory),
    },
  } as unknown as Needs;
}

// If a reload was refused after its authenticator had been created, revocations would miss the one that is in use.
it('applies revocations to the authenticator that requests use, and not to one that is only created', () => {
  const revoked: unknown[] = [];
  const needs = needsOf(revoked);
  const created = authenticator.start(needs, undefined);
  expect(revoked).toEqual([]);
  revocations.use?.(needs.revocations, { ...needs, authenticator: created });
  expect(revoked).toEqual([created]);
});

/*
 * The attack: somebody whose password was changed or whose account was removed goes on using the old password, because a
 * reload has kept the authenticator with its remembered credentials.
 */
describe('a reload replaces the authenticator', () => {
  const FILE = { mode: 'strict' };
  const UPSTREAM = {
    ...REAL,
    mode: 'strict',
    authentication: { verifier: 'upstream' },
    roles: { unmapped: 'delegate' },
  };
  const ALICE = { name: 'alice', passwordHash: 'hash 1' };
  const dependsOn = (
    config: object,
    { accounts = [ALICE], address = 'a' }: Partial<Needs['start']['roles']> & { address?: string } = {},
  ) =>
    authenticator.dependsOn?.({
      ...needsOf([], config as Readonly<Record<string, unknown>>),
      start: { roles: { source: 'roles.yaml', accounts }, address },
    });

  it.each<readonly [string, unknown]>([
    ['a password', dependsOn(FILE, { accounts: [{ ...ALICE, passwordHash: 'hash 2' }] })],
    ['a name', dependsOn(FILE, { accounts: [{ ...ALICE, name: 'bob' }] })],
    ['the accounts', dependsOn(FILE, { accounts: [] })],
    ['the comparison of names', dependsOn({ ...FILE, roles: { names: 'ignoreCase' } })],
    ['the address of the upstream', dependsOn(FILE, { address: 'b' })],
    ['an option', dependsOn({ ...FILE, authentication: { cacheSeconds: 1 } })],
  ])('if it changes %s', (_what, changed) => {
    expect(dependsOn(FILE)).toEqual(dependsOn(FILE));
    expect(changed).not.toEqual(dependsOn(FILE));
  });

  it('with the verifier upstream if it changes a session cookie or whether probes are sent, but not for accounts', () => {
    expect(dependsOn(UPSTREAM, { accounts: [] })).toEqual(dependsOn(UPSTREAM));
    const cookies = { ...UPSTREAM, upstream: { ...REAL.upstream, sessionCookies: ['SID'] } };
    expect(dependsOn(cookies)).not.toEqual(dependsOn(UPSTREAM));
    const observing = { ...UPSTREAM, mode: 'observe' };
    const enforcing = { ...observing, operations: { listQuestions: { checks: { authentication: 'enforce' } } } };
    expect(dependsOn(enforcing)).not.toEqual(dependsOn(observing));
  });
});

it('a reload resets the limits on failed logins only if it changes them', () => {
  const dependsOn = (authentication: object) =>
    loginLimits.dependsOn?.(needsOf([], { mode: 'strict', authentication }));
  expect(dependsOn({ cacheSeconds: 1 })).toEqual(dependsOn({}));
  expect(dependsOn({ failures: { limit: 3 } })).not.toEqual(dependsOn({}));
});

describe('the tests of the verifier', () => {
  const config = { ...REAL, mode: 'strict', authentication: { verifier: 'upstream' }, roles: { unmapped: 'delegate' } };
  const needs = () => {
    const given = needsOf([], config);
    const calibrate = () => Promise.resolve({ kind: 'pending', cause: 'down' } as const);
    return { ...given, authenticator: { calibrate }, logger: { info: () => 0, warn: () => 0 } } as unknown as Needs;
  };

  it('let the gateway start while the upstream does not respond, and refuse a reload', async () => {
    const first = verifierTests.start(needs(), undefined);
    await verifierTests.open?.(first);
    expect(first.state).toEqual({ kind: 'pending', needed: true });
    const second = verifierTests.start(needs(), first);
    await expect(verifierTests.open?.(second)).rejects.toThrow(/the upstream does not respond to the probe/);
    for (const tests of [first, second]) await verifierTests.close?.(tests, 0, needs());
  });

  it('begin again if a reload changes the authenticator or whether it is needed', () => {
    const [one, other] = [needs(), needs()];
    expect(verifierTests.dependsOn?.(one)).toEqual([one.authenticator, true]);
    expect(verifierTests.dependsOn?.({ ...other, settings: settingsOf({ ...config, mode: 'observe' }) })).toEqual([
      other.authenticator,
      false,
    ]);
  });
});

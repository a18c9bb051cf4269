import { expect, it } from 'vitest';
import { authenticator, revocations } from '../../../src/engine/identity/services.ts';
import { createLoginLimits } from '../../../src/engine/identity/login-limits.ts';
import { createKeyedHash } from '../../../src/engine/identity/verify-credential.ts';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import { REAL, settingsOf } from '../../builders/settings-of.ts';
import { createTestClock } from '../../builders/test-clock.ts';

type Needs = Parameters<typeof authenticator.start>[0];

/** Returns what the services need. `revoked` receives what revocations apply to. */
function needsOf(revoked: unknown[]): Needs {
  const clock = createTestClock();
  const sharing = openAlone(clock);
  const settings = settingsOf({ ...REAL, mode: 'observe' });
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

import { describe, expect, it } from 'vitest';
import { IDENTITY_DEFAULTS } from '../../../src/engine/identity/identity-options.ts';
import { createLoginLimits } from '../../../src/engine/identity/login-limits.ts';
import { createUpstreamPasswords } from '../../../src/engine/identity/upstream-passwords.ts';
import type { Verification } from '../../../src/engine/identity/verifier.ts';
import { createKeyedHash } from '../../../src/engine/identity/verify-credential.ts';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import { fakeVerifier, refusalOf, START } from './identity-fixtures.ts';

const CLIENT = '192.0.2.1';

function passwordsWith(decide?: () => Verification) {
  const { verifier, asked } = fakeVerifier(decide);
  const failures = { ...IDENTITY_DEFAULTS.failures, limit: 2 };
  const limits = createLoginLimits(openAlone(() => START).windows('logins', failures.maxPairs), failures);
  const passwords = createUpstreamPasswords({
    verifier,
    options: IDENTITY_DEFAULTS,
    hash: createKeyedHash(),
    limits,
    clock: () => START,
  });
  return { passwords, asked, limits };
}

describe('the passwords of the upstream', () => {
  it('are those that it accepts, and it is asked each time', async () => {
    const { passwords, asked } = passwordsWith();
    expect(await passwords.accepts('alice', 'alice', CLIENT)).toBe(true);
    expect(await passwords.accepts('alice', 'alice', CLIENT)).toBe(true);
    expect(await passwords.accepts('alice', 'wrong', CLIENT)).toBe(false);
    expect(asked.map(({ password }) => password)).toEqual(['alice', 'alice', 'wrong']);
    // What no credential can contain is not sent.
    expect(await passwords.accepts('', 'alice', CLIENT)).toBe(false);
    expect(await passwords.accepts('alice', 'a\nb', CLIENT)).toBe(false);
    expect(asked).toHaveLength(3);
  });

  it('may be guessed only as often as at a login, for each name and network', async () => {
    const { passwords, asked } = passwordsWith();
    for (const guess of ['one', 'two']) expect(await passwords.accepts('alice', guess, CLIENT)).toBe(false);
    const refusal = await refusalOf(passwords.accepts('alice', 'three', CLIENT));
    expect([refusal.status, refusal.code]).toEqual([429, 'too_many_attempts']);
    expect(asked).toHaveLength(2);
    expect(await passwords.accepts('bob', 'bob', CLIENT)).toBe(true);
    expect(await passwords.accepts('alice', 'alice', '198.51.100.1')).toBe(true);
  });

  it('count with failed logins', async () => {
    const { passwords, limits } = passwordsWith();
    await limits.begin(CLIENT, 'alice');
    await limits.begin(CLIENT, 'alice');
    expect((await refusalOf(passwords.accepts('alice', 'alice', CLIENT))).code).toBe('too_many_attempts');
  });

  it('are unknown while the upstream cannot tell, which is nobody’s failed attempt', async () => {
    const unavailable = { kind: 'unavailable', retryAfterSeconds: 7, unusable: false } as const;
    const { passwords } = passwordsWith(() => unavailable);
    for (let count = 0; count < 3; count += 1) {
      const refusal = await refusalOf(passwords.accepts('alice', 'alice', CLIENT));
      expect([refusal.status, refusal.code, refusal.headers]).toEqual([
        503,
        'verification_unavailable',
        { 'Retry-After': '7' },
      ]);
    }
  });
});

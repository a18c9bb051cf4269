import { expect, it } from 'vitest';
import { needsProgram } from '../../builders/needs-program.ts';
import { startRedisServer } from '../../builders/redis-server.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { until } from '../../builders/until.ts';
import { FAILURES, fleetMember as member, MAX_UNSYNCED_SECONDS } from './fleet-member.ts';
import { basic, fakeVerifier } from './identity-fixtures.ts';

needsProgram('redis', 'a revoked credential', (path) => {
  it('is verified again by every gateway, and other callers are not', async () => {
    const { url } = await startRedisServer(path);
    const [one, other] = [await member(url), await member(url)];
    for (const gateway of [one, other]) await gateway.ask('alice');
    // Each gateway reads the fleet's shared key before its first revocation.
    for (const gateway of [one, other]) {
      await gateway.ask('bob');
      const before = gateway.log.position()?.number ?? 0;
      gateway.authenticator.forget({ kind: 'verified', name: 'bob', authorization: basic('bob') });
      await until(() => [one, other].every(({ log }) => log.position()?.number === before + 1));
    }
    await other.ask('bob');
    await other.ask('alice');
    one.authenticator.forget({ kind: 'verified', name: 'alice', authorization: basic('alice') });
    await until(() => !other.isFresh('alice'));
    expect(other.isFresh('bob')).toBe(true);
    await other.ask('alice');
    expect(other.asked.at(-1)).toMatchObject({ name: 'alice', known: true });
  });

  // Anyone can send another caller's name with a wrong password. If such a request revoked the name's credentials
  // everywhere, it could force every gateway to verify them again.
  it('is not revoked by a caller who only claims the name', async () => {
    const { url } = await startRedisServer(path);
    const [one, other] = [await member(url), await member(url)];
    for (const name of ['alice', 'bob']) {
      await one.ask(name);
      await other.ask(name);
    }
    one.authenticator.forget({ kind: 'verified', name: 'bob', authorization: basic('bob') });
    await until(() => !other.isFresh('bob'));
    await other.ask('alice');
    one.authenticator.forget({ kind: 'unverified', name: 'alice', authorization: basic('alice', 'guess') });
    one.authenticator.forget({ kind: 'unverified', name: 'alice', authorization: basic('alice') });
    one.authenticator.forget({ kind: 'verified', name: 'alice', authorization: basic('alice', 'never verified') });
    await one.log.append({ kind: 'purge', tags: ['marker'] });
    await until(() => other.log.position()?.number === 2);
    expect(other.isFresh('alice')).toBe(true);
  });

  // A disconnected gateway does not learn of password changes.
  it('is accepted by a gateway without Redis no longer than the bound', async () => {
    const server = await startRedisServer(path);
    const clock = createTestClock();
    const one = await member(server.url, FAILURES, fakeVerifier(), clock);
    await one.ask('alice');
    await until(() => one.log.syncedAt() > 0);
    server.freeze();
    const frozenAt = clock();
    clock.advance(MAX_UNSYNCED_SECONDS);
    expect(one.isFresh('alice')).toBe(true);
    clock.advance(1);
    expect(one.isFresh('alice')).toBe(false);
    // Credentials can be verified without Redis. Each new result is accepted for the same limited time.
    await one.ask('alice');
    expect(one.isFresh('alice')).toBe(true);
    server.thaw();
    await until(() => one.log.syncedAt() > frozenAt);
    expect(one.isFresh('alice')).toBe(true);
  });

  it('does not become valid because its verification began before the revocation', async () => {
    const { url } = await startRedisServer(path);
    const verification = Promise.withResolvers<{ kind: 'valid' }>();
    const slow = fakeVerifier(() => verification.promise);
    const [one, other] = [await member(url), await member(url, FAILURES, slow)];
    await one.ask('alice');
    const asking = other.ask('alice');
    await until(() => slow.asked.length === 1);
    one.authenticator.forget({ kind: 'verified', name: 'alice', authorization: basic('alice') });
    await until(() => other.log.position()?.number === 1);
    verification.resolve({ kind: 'valid' });
    await asking;
    expect(other.isFresh('alice')).toBe(false);
  });
});

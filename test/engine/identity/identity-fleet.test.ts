import { openFleetKey } from '../../../src/engine/sharing/redis/connect-redis.ts';
import { expect, it } from 'vitest';
import { createChangeFollower } from '../../../src/engine/cache/change-follower.ts';
import { IDENTITY_DEFAULTS, type IdentityOptions } from '../../../src/engine/identity/identity-options.ts';
import { createRevocations, createSharedLoginLimiter } from '../../../src/engine/identity/identity-fleet.ts';
import { createKeyedHash } from '../../../src/engine/identity/verify-credential.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { openRedisChangeLog } from '../../../src/engine/sharing/redis/redis-change-log.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { connectTo, startRedisServer } from '../../builders/redis-server.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { until } from '../../builders/until.ts';
import { authenticating, basic, fakeVerifier, refusalOf } from './identity-fixtures.ts';

const MAX_UNSYNCED_SECONDS = 30;
const FAILURES = { ...IDENTITY_DEFAULTS.failures, limit: 4, limitPerName: 6 };

/** Starts one gateway in a fleet, with only the parts that verify credentials. The correct password equals the name. */
async function member(
  url: string,
  failures: IdentityOptions['failures'] = FAILURES,
  verifier = fakeVerifier(),
  clock: Clock = systemClock,
) {
  const redis = connectTo(url);
  const follower = createChangeFollower({
    clock,
    syncedAt: () => log.syncedAt(),
    unapplied: () => log.unapplied(),
    maxUnsyncedSeconds: MAX_UNSYNCED_SECONDS,
  });
  const log = openRedisChangeLog({
    redis,
    clock,
    maxChanges: 1_000,
    listener: {
      apply(change, number, own) {
        follower.apply(change, number, own);
        revocations.listener.apply(change, number, own);
      },
      reset(position) {
        follower.reset(position);
        revocations.listener.reset(position);
      },
    },
  });
  const revocations = createRevocations({
    key: openFleetKey(redis, 'callers'),
    changes: log,
    mayTrust: follower.mayServe,
  });
  const fleet = { failures: createSharedLoginLimiter(redis, failures), revocations };
  const { authenticator, askNow } = authenticating(verifier.verifier, { failures }, createKeyedHash(), fleet);
  cleanUpAfterTest(async () => {
    await log.close();
    redis.close();
  });
  await until(() => log.position() !== undefined);
  // After the first reset, two commands read the fleet's shared key. Replies arrive in order, so the key is known once
  // three later commands have received theirs.
  for (let count = 0; count < 3; count += 1) await redis.command('', ['PING']);
  const from = (address: string) => ({ clientAddress: () => address, now: clock() });
  return {
    ...verifier,
    redis,
    log,
    authenticator,
    ask: async (name: string, password = name, address = '192.0.2.1') => askNow(basic(name, password), from(address)),
    /** Returns whether the credential is accepted without being verified again. */
    isFresh: (name: string) => !(askNow(basic(name), from('192.0.2.1')) instanceof Promise),
    guess: async (name: string, address: string, password = `guess-${Math.random()}`) =>
      (await refusalOf((async () => askNow(basic(name, password), from(address)))())).code,
  };
}

needsProgram('redis', 'failed logins in a fleet', (path) => {
  // The attack: a load balancer spreads the guesses over all gateways. If each gateway counted only its own, an
  // attacker could make the maximum number of attempts at every gateway.
  it('count for all gateways together', async () => {
    const { url } = await startRedisServer(path);
    const gateways = [await member(url), await member(url), await member(url)];
    const codes = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => gateways[at % 3]?.guess('alice', '198.51.100.1')),
    );
    expect(codes.filter((code) => code === 'credentials_refused')).toHaveLength(FAILURES.limit);
    expect(gateways.reduce((sum, { asked }) => sum + asked.length, 0)).toBe(FAILURES.limit);
    const error = await refusalOf(gateways[0]?.ask('alice', 'x', '198.51.100.1') ?? Promise.resolve());
    expect(error.status).toBe(429);
    expect(Number(error.headers?.['Retry-After'])).toBeGreaterThan(FAILURES.windowSeconds - 20);
  });

  it('count per name for all gateways and addresses together', async () => {
    const { url } = await startRedisServer(path);
    const gateways = [await member(url), await member(url)];
    const codes = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => gateways[at % 2]?.guess('alice', `198.51.100.${at}`)),
    );
    expect(codes.filter((code) => code === 'credentials_refused')).toHaveLength(FAILURES.limitPerName);
  });

  it('do not lock out the address of a user who has logged in at another gateway', async () => {
    const { url } = await startRedisServer(path);
    const [one, other] = [await member(url), await member(url)];
    await one.ask('alice', 'alice', '203.0.113.1');
    for (let at = 0; at < 8; at += 1) await one.guess('alice', `198.51.100.${at}`);
    expect(await other.guess('alice', '198.51.100.99')).toBe('too_many_attempts');
    expect((await other.ask('alice', 'alice', '203.0.113.1')).principal.kind).toBe('verified');
  });

  it('limit the names that one address tries at all gateways', async () => {
    const { url } = await startRedisServer(path);
    const few = { ...FAILURES, maxPairs: 16 };
    const [one, other] = [await member(url, few), await member(url, few)];
    for (let at = 0; at < 16; at += 1) await (at % 2 ? one : other).guess(`user${at}`, '198.51.100.1');
    expect(await one.guess('user99', '198.51.100.1')).toBe('too_many_attempts');
    expect(await one.guess('user99', '198.51.100.2')).toBe('credentials_refused');
  });

  it('do not count if they were no failures', async () => {
    const { url } = await startRedisServer(path);
    const unsure = fakeVerifier(() => ({ kind: 'unavailable', reason: 'busy' }) as never);
    const [one, other] = [await member(url, FAILURES, unsure), await member(url)];
    for (let at = 0; at < 10; at += 1) await one.ask('alice', `x${at}`).catch(() => undefined);
    expect(await other.guess('alice', '192.0.2.1')).toBe('credentials_refused');
  });

  // While Redis is unavailable, a password guess must not have to wait, and the number of guesses must still be
  // limited.
  it('count for each gateway alone while Redis is away, and together again later', async () => {
    const server = await startRedisServer(path);
    const [one, other] = [await member(server.url), await member(server.url)];
    await one.guess('alice', '198.51.100.1');
    server.freeze();
    const codes: string[] = [];
    for (let at = 0; at < 6; at += 1) codes.push(await one.guess('alice', '198.51.100.1'));
    expect(codes.filter((code) => code === 'credentials_refused')).toHaveLength(FAILURES.limit - 1);
    expect(await other.guess('alice', '198.51.100.1')).toBe('credentials_refused');
    server.thaw();
    await until(() => one.redis.isAvailable() && other.redis.isAvailable());
    const later = await Promise.all(Array.from({ length: 10 }, async () => other.guess('alice', '198.51.100.1')));
    expect(later.filter((code) => code === 'credentials_refused').length).toBeLessThan(FAILURES.limit);
  });

  it('count again after Redis has lost its data', async () => {
    const { url } = await startRedisServer(path);
    const [one, other] = [await member(url), await member(url)];
    await one.guess('alice', '198.51.100.1');
    await other.guess('alice', '198.51.100.1');
    await one.redis.command('', ['FLUSHALL']);
    const codes = await Promise.all(
      Array.from({ length: 10 }, async (_, at) => (at % 2 ? one : other).guess('alice', '198.51.100.1')),
    );
    expect(codes.filter((code) => code === 'credentials_refused')).toHaveLength(FAILURES.limit);
  });

  // People who can read Redis must not learn any passwords, names or addresses.
  it('leave nothing in Redis that identifies a caller', async () => {
    const { url } = await startRedisServer(path);
    const one = await member(url);
    await one.guess('planted-name', '198.51.100.77', 'planted-password');
    await one.ask('planted-other');
    one.authenticator.forget({ kind: 'verified', name: 'planted-other', authorization: basic('planted-other') });
    await until(() => one.log.position()?.number === 1);
    // A single script reads everything, because a key can expire between two separate commands.
    const script = `local all = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  table.insert(all, {key, redis.call('DUMP', key), tostring(redis.call('PTTL', key))})
end
return all`;
    const entries = (await one.redis.command('', ['EVAL', script, '0'], { bytes: true })) as Buffer[][];
    const texts = entries.map((entry) => entry.map((bytes) => bytes.toString('latin1')));
    expect(texts.length).toBeGreaterThan(5);
    expect(texts.flat().join('\n')).not.toMatch(/planted|198\.51|cGxhbnRlZC/);
    for (const [key = '', , milliseconds] of texts.filter(
      ([name = '']) => name.includes('logins}:') && !name.endsWith(':key'),
    ))
      expect(Number(milliseconds), key).toBeGreaterThan(0);
  });
});

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
    const answer = Promise.withResolvers<{ kind: 'valid' }>();
    const slow = fakeVerifier(() => answer.promise);
    const [one, other] = [await member(url), await member(url, FAILURES, slow)];
    await one.ask('alice');
    const asking = other.ask('alice');
    await until(() => slow.asked.length === 1);
    one.authenticator.forget({ kind: 'verified', name: 'alice', authorization: basic('alice') });
    await until(() => other.log.position()?.number === 1);
    answer.resolve({ kind: 'valid' });
    await asking;
    expect(other.isFresh('alice')).toBe(false);
  });
});

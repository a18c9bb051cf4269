import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IdentityOptions } from '../../../src/engine/identity/identity-options.ts';
import { createLoginLimits, type LoginAttempt } from '../../../src/engine/identity/login-limits.ts';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { startRedisServer } from '../../builders/redis-server.ts';
import { until } from '../../builders/until.ts';
import { FAILURES as FLEET_FAILURES, fleetMember as member } from './fleet-member.ts';
import { authenticating, basic, fakeVerifier, refusalOf, START } from './identity-fixtures.ts';

/** The limits of a gateway that shares with nobody, with each attempt at a given time. */
function limiterWith(options: Partial<IdentityOptions['failures']>) {
  const time = { now: START };
  const failures = { limit: 10, windowSeconds: 60, limitPerName: 1_000, trustSeconds: 3600, maxPairs: 100, ...options };
  const limits = createLoginLimits(openAlone(() => time.now).windows('logins', failures.maxPairs), failures);
  let latest: LoginAttempt | undefined;
  return {
    begin(network: string, name: string, now: number) {
      time.now = now;
      latest = limits.begin(network, name) as LoginAttempt;
      return latest.limited;
    },
    /** Withdraws the latest attempt. */
    withdraw: () => latest?.withdraw(),
    loggedIn(network: string, name: string, now: number) {
      time.now = now;
      const attempt = limits.begin(network, name) as LoginAttempt;
      attempt.loggedIn();
    },
  };
}

describe('the limit of failed attempts per network and name', () => {
  it('never lets more attempts fail within any window than the limit, and admits one after the announced wait', () => {
    const gaps = fc.array(
      fc.integer({ min: 0, max: 4 }).map((tens) => tens * 10_000),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), gaps, (limit, steps) => {
        const limiter = limiterWith({ limit, windowSeconds: 30, maxPairs: 10 });
        const admitted: number[] = [];
        let now = START;
        for (const step of steps) {
          now += step;
          const refused = limiter.begin('home', 'alice', now);
          const recent = admitted.filter((at) => at > now - 30_000);
          expect(refused === undefined).toBe(recent.length < limit);
          if (refused === undefined) admitted.push(now);
          else expect(refused.retryAfterSeconds).toBe(Math.ceil(((recent[0] ?? 0) + 30_000 - now) / 1000));
        }
      }),
    );
  });

  it('removes a single attempt that did not fail', () => {
    const limiter = limiterWith({ limit: 2, windowSeconds: 30, maxPairs: 10 });
    limiter.begin('home', 'alice', START);
    limiter.begin('home', 'alice', START + 1);
    limiter.withdraw();
    expect(limiter.begin('home', 'alice', START + 2)).toBeUndefined();
    expect(limiter.begin('home', 'alice', START + 3)).toEqual({ retryAfterSeconds: 30 });
  });

  it('bounds the number of pairs and drops the least recently used first', () => {
    const limiter = limiterWith({ limit: 1, windowSeconds: 3600, maxPairs: 3 });
    for (const pair of ['a', 'b', 'c']) limiter.begin(pair, 'alice', START);
    limiter.begin('a', 'alice', START + 1);
    limiter.begin('d', 'alice', START + 2);
    expect(limiter.begin('a', 'alice', START + 3)).toBeDefined();
    expect(limiter.begin('b', 'alice', START + 3)).toBeUndefined();
  });

  // The attack: one address makes failed attempts with thousands of made-up names, until the table contains only
  // pairs with this address.
  describe('with made-up names from one network', () => {
    const options = { limit: 2, windowSeconds: 60, maxPairs: 640 };
    const sprayed = (limiter: ReturnType<typeof limiterWith>, network: string, count: number, now = START) =>
      Array.from({ length: count }, (_, index) => limiter.begin(network, `name-${index}`, now)).filter(
        (refused) => refused === undefined,
      ).length;

    it('lets that network fail only under its share of names, and admits all others', () => {
      const limiter = limiterWith(options);
      expect(sprayed(limiter, 'flood', 5_000)).toBe(20);
      expect(limiter.begin('flood', 'alice', START)).toEqual({ retryAfterSeconds: 60 });
      expect(limiter.begin('home', 'alice', START)).toBeUndefined();
    });

    it('keeps the counts of other networks and of this one, so that spraying permits no further guesses', () => {
      const limiter = limiterWith(options);
      for (const network of ['home', 'flood']) for (const at of [1, 2]) limiter.begin(network, 'alice', START + at);
      sprayed(limiter, 'flood', 5_000, START + 3);
      for (const network of ['home', 'flood']) expect(limiter.begin(network, 'alice', START + 4)).toBeDefined();
    });

    it('accepts new names again when the first ones expire', () => {
      const limiter = limiterWith(options);
      sprayed(limiter, 'flood', 20);
      expect(limiter.begin('flood', 'new', START + 59_000)).toEqual({ retryAfterSeconds: 1 });
      expect(limiter.begin('flood', 'new', START + 60_000)).toBeUndefined();
    });

    it('does not count successful names towards the share', () => {
      const limiter = limiterWith(options);
      limiter.begin('office', 'mistyped', START);
      for (let index = 0; index < 500; index += 1) {
        expect(limiter.begin('office', `name-${index}`, START)).toBeUndefined();
        limiter.withdraw();
      }
    });
  });
});

/**
 * The attack: many addresses guess the password of a single name. Each of them guesses so rarely that it stays below
 * the limit for its own pair of address and name. A limit on the name alone would stop them, but then anyone could lock
 * out the name's owner by failing on purpose.
 */

const FAILURES = { limit: 10, windowSeconds: 60, limitPerName: 3, trustSeconds: 3600, maxPairs: 100 };

describe('the limit of failed attempts per name', () => {
  it('counts the attempts from all networks together', () => {
    const limiter = limiterWith(FAILURES);
    for (const network of ['a', 'b', 'c']) expect(limiter.begin(network, 'alice', START)).toBeUndefined();
    expect(limiter.begin('d', 'alice', START + 1000)).toEqual({ retryAfterSeconds: 59 });
    expect(limiter.begin('d', 'bob', START + 1000)).toBeUndefined();
    expect(limiter.begin('d', 'alice', START + 60_000)).toBeUndefined();
  });

  it('does not apply to a network that has logged in with the name, until that was too long ago', () => {
    const limiter = limiterWith(FAILURES);
    limiter.loggedIn('home', 'alice', START);
    for (const network of ['a', 'b', 'c', 'd', 'e']) limiter.begin(network, 'alice', START + 1);
    expect(limiter.begin('home', 'alice', START + 2)).toBeUndefined();
    expect(limiter.begin('a', 'alice', START + 2)).toBeDefined();
    const later = START + 3_600_000;
    for (const network of ['a', 'b', 'c']) limiter.begin(network, 'alice', later);
    expect(limiter.begin('home', 'alice', later)).toBeDefined();
  });

  it('trusts a network only with the names that it has logged in with', () => {
    const limiter = limiterWith(FAILURES);
    limiter.loggedIn('home', 'mallory', START);
    for (const network of ['a', 'b', 'c']) limiter.begin(network, 'alice', START);
    expect(limiter.begin('home', 'alice', START)).toBeDefined();
  });

  it('does not count attempts that did not fail', () => {
    const limiter = limiterWith(FAILURES);
    for (let at = 0; at < 20; at += 1) {
      expect(limiter.begin('a', 'alice', START + at)).toBeUndefined();
      limiter.withdraw();
    }
  });

  it('does not count attempts that are refused because their network has failed too often', () => {
    const limiter = limiterWith({ ...FAILURES, limit: 2 });
    for (const at of [0, 1]) expect(limiter.begin('a', 'alice', START + at)).toBeUndefined();
    expect(limiter.begin('a', 'alice', START + 2)).toBeDefined();
    expect(limiter.begin('b', 'alice', START + 3)).toBeUndefined();
    expect(limiter.begin('c', 'alice', START + 4)).toBeDefined();
  });

  it('stores a limited number of names', () => {
    const limiter = limiterWith({ ...FAILURES, maxPairs: 2 });
    for (const name of ['alice', 'bob', 'carol'])
      for (const at of [0, 1, 2]) limiter.begin(`home of ${name}`, name, START + at);
    expect(limiter.begin('home of carol', 'carol', START + 3)).toBeDefined();
    expect(limiter.begin('home of alice', 'alice', START + 3)).toBeUndefined();
  });
});

describe('guesses for one name from many addresses', () => {
  const guess = (ask: ReturnType<typeof authenticating>['ask'], count: number, name = 'alice') =>
    Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const clientAddress = () => `198.51.100.${at}`;
        return (await refusalOf(ask(basic(name, `guess-${at}`), { clientAddress }))).code;
      }),
    );

  it.each(['alice', 'nobody'])(
    'reach the verifier no more often than the limit allows, whether %s exists',
    async (name) => {
      const { verifier, asked } = fakeVerifier(() => ({ kind: 'invalid' }));
      const { ask } = authenticating(verifier, { failures: FAILURES });
      const codes = await guess(ask, 20, name);
      expect(codes.filter((code) => code === 'too_many_attempts')).toHaveLength(17);
      expect(asked).toHaveLength(3);
    },
  );

  it('lock out neither the address of the user nor a verified credential', async () => {
    const { ask } = authenticating(fakeVerifier().verifier, { failures: FAILURES });
    const clientAddress = () => '203.0.113.1';
    await ask(basic('alice'), { clientAddress });
    await guess(ask, 20);
    // The user makes a mistake and then corrects it. The second address uses the verified credential.
    expect((await refusalOf(ask(basic('alice', 'mistyped'), { clientAddress }))).code).toBe('credentials_refused');
    expect((await ask(basic('alice'), { clientAddress })).principal.kind).toBe('verified');
    expect((await ask(basic('alice'), { clientAddress: () => '203.0.113.2' })).principal.kind).toBe('verified');
  });

  it('do not use up the attempts of each address while they are refused', async () => {
    const { ask } = authenticating(fakeVerifier().verifier, { failures: { ...FAILURES, limit: 1 } });
    await guess(ask, 3);
    const input = { clientAddress: () => '203.0.113.1' };
    expect((await refusalOf(ask(basic('alice', 'x'), input))).code).toBe('too_many_attempts');
    const later = { ...input, now: START + 60_000 };
    expect((await refusalOf(ask(basic('alice', 'x'), later))).code).toBe('credentials_refused');
  });
});

needsProgram('redis', 'failed logins in a fleet', (path) => {
  // The attack: a load balancer spreads the guesses over all gateways. If each gateway counted only its own, an
  // attacker could make the maximum number of attempts at every gateway.
  it('count for all gateways together', async () => {
    const { url } = await startRedisServer(path);
    const gateways = [await member(url), await member(url), await member(url)];
    const codes = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => gateways[at % 3]?.guess('alice', '198.51.100.1')),
    );
    expect(codes.filter((code) => code === 'credentials_refused')).toHaveLength(FLEET_FAILURES.limit);
    expect(gateways.reduce((sum, { asked }) => sum + asked.length, 0)).toBe(FLEET_FAILURES.limit);
    const error = await refusalOf(gateways[0]?.ask('alice', 'x', '198.51.100.1') ?? Promise.resolve());
    expect(error.status).toBe(429);
    expect(Number(error.headers?.['Retry-After'])).toBeGreaterThan(FLEET_FAILURES.windowSeconds - 20);
  });

  it('count per name for all gateways and addresses together', async () => {
    const { url } = await startRedisServer(path);
    const gateways = [await member(url), await member(url)];
    const codes = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => gateways[at % 2]?.guess('alice', `198.51.100.${at}`)),
    );
    expect(codes.filter((code) => code === 'credentials_refused')).toHaveLength(FLEET_FAILURES.limitPerName);
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
    const few = { ...FLEET_FAILURES, maxPairs: 16 };
    const [one, other] = [await member(url, few), await member(url, few)];
    for (let at = 0; at < 16; at += 1) await (at % 2 ? one : other).guess(`user${at}`, '198.51.100.1');
    expect(await one.guess('user99', '198.51.100.1')).toBe('too_many_attempts');
    expect(await one.guess('user99', '198.51.100.2')).toBe('credentials_refused');
  });

  it('do not count if they were no failures', async () => {
    const { url } = await startRedisServer(path);
    const unsure = fakeVerifier(() => ({ kind: 'unavailable', reason: 'busy' }) as never);
    const [one, other] = [await member(url, FLEET_FAILURES, unsure), await member(url)];
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
    expect(codes.filter((code) => code === 'credentials_refused')).toHaveLength(FLEET_FAILURES.limit - 1);
    expect(await other.guess('alice', '198.51.100.1')).toBe('credentials_refused');
    server.thaw();
    await until(() => one.redis.isAvailable() && other.redis.isAvailable());
    const later = await Promise.all(Array.from({ length: 10 }, async () => other.guess('alice', '198.51.100.1')));
    expect(later.filter((code) => code === 'credentials_refused').length).toBeLessThan(FLEET_FAILURES.limit);
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
    expect(codes.filter((code) => code === 'credentials_refused')).toHaveLength(FLEET_FAILURES.limit);
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

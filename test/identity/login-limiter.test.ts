import { describe, expect, it } from 'vitest';
import { createLoginLimiter } from '../../src/identity/login-limiter.ts';
import { authenticating, basic, fakeVerifier, refusalOf, START } from './identity-fixtures.ts';

/**
 * The attack: many addresses guess the password of a single name. Each of them guesses so rarely that it stays below
 * the limit for its own pair of address and name. A limit for the name alone would stop them, but anyone could then
 * lock out the name's owner by failing on purpose.
 */

const FAILURES = { limit: 10, windowSeconds: 60, limitPerName: 3, trustSeconds: 3600, maxPairs: 100 };

describe('the limit of failed attempts per name', () => {
  it('counts the attempts from all networks together', () => {
    const limiter = createLoginLimiter(FAILURES);
    for (const network of ['a', 'b', 'c']) expect(limiter.begin(network, 'alice', START)).toBeUndefined();
    expect(limiter.begin('d', 'alice', START + 1000)).toEqual({ retryAfterSeconds: 59 });
    expect(limiter.begin('d', 'bob', START + 1000)).toBeUndefined();
    expect(limiter.begin('d', 'alice', START + 60_000)).toBeUndefined();
  });

  it('does not apply to a network that has logged in with the name, until that was too long ago', () => {
    const limiter = createLoginLimiter(FAILURES);
    limiter.loggedIn('home', 'alice', START);
    for (const network of ['a', 'b', 'c', 'd', 'e']) limiter.begin(network, 'alice', START + 1);
    expect(limiter.begin('home', 'alice', START + 2)).toBeUndefined();
    expect(limiter.begin('a', 'alice', START + 2)).toBeDefined();
    const later = START + 3_600_000;
    for (const network of ['a', 'b', 'c']) limiter.begin(network, 'alice', later);
    expect(limiter.begin('home', 'alice', later)).toBeDefined();
  });

  it('trusts a network only with the names that it has logged in with', () => {
    const limiter = createLoginLimiter(FAILURES);
    limiter.loggedIn('home', 'mallory', START);
    for (const network of ['a', 'b', 'c']) limiter.begin(network, 'alice', START);
    expect(limiter.begin('home', 'alice', START)).toBeDefined();
  });

  it('does not count attempts that did not fail', () => {
    const limiter = createLoginLimiter(FAILURES);
    for (let at = 0; at < 20; at += 1) {
      expect(limiter.begin('a', 'alice', START + at)).toBeUndefined();
      limiter.withdraw('a', 'alice', START + at);
    }
  });

  it('does not count attempts that are refused because their network has failed too often', () => {
    const limiter = createLoginLimiter({ ...FAILURES, limit: 2 });
    for (const at of [0, 1]) expect(limiter.begin('a', 'alice', START + at)).toBeUndefined();
    expect(limiter.begin('a', 'alice', START + 2)).toBeDefined();
    expect(limiter.begin('b', 'alice', START + 3)).toBeUndefined();
    expect(limiter.begin('c', 'alice', START + 4)).toBeDefined();
  });

  it('stores a limited number of names', () => {
    const limiter = createLoginLimiter({ ...FAILURES, maxPairs: 2 });
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

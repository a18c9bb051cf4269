import { describe, expect, it } from 'vitest';
import type { Verification } from '../../../src/engine/identity/verifier.ts';
import { createKeyedHash, createVerifiedCredentials } from '../../../src/engine/identity/verify-credential.ts';
import { authenticating, basic, fakeVerifier, refusalOf, START } from './identity-fixtures.ts';

describe('verification', () => {
  describe('the memory of verified credentials', () => {
    const later = { now: START + 60_000 };

    it('calls the verifier once per credential and time span', async () => {
      const { verifier, asked } = fakeVerifier();
      const { ask } = authenticating(verifier);
      await ask(basic('alice'));
      await ask(basic('alice'), { now: START + 59_999 });
      expect(asked).toHaveLength(1);
      await ask(basic('alice'), later);
      expect(asked).toEqual([
        { name: 'alice', password: 'alice', known: false },
        { name: 'alice', password: 'alice', known: true },
      ]);
    });

    it('does not mistake a remembered name for a remembered credential', async () => {
      const { ask } = authenticating(fakeVerifier().verifier);
      await ask(basic('alice'));
      await expect(refusalOf(ask(basic('alice', 'guess')))).resolves.toMatchObject({ code: 'credentials_refused' });
    });

    it('hashes a credential once per connection', async () => {
      const hashed: (string | undefined)[] = [];
      const keyed = createKeyedHash();
      const hash = (...texts: readonly string[]) => {
        if (texts[0] === 'credential') hashed.push(texts[1]);
        return keyed(...texts);
      };
      const { ask } = authenticating(fakeVerifier().verifier, {}, hash);
      const connection = {};
      await ask(basic('alice'), { connection });
      hashed.length = 0;
      for (let again = 0; again < 3; again += 1) await ask(basic('alice'), { connection });
      expect(hashed).toEqual([]);
      await ask(basic('alice'), { connection: {} });
      expect(hashed).toEqual([basic('alice')]);
    });

    // The attack: a proxy sends the requests of several callers over one connection. Portico must never mistake one
    // caller for another.
    it('distinguishes the credentials on one connection, and forgets them there too', async () => {
      const { verifier, asked } = fakeVerifier();
      const { ask, authenticator } = authenticating(verifier);
      const connection = {};
      const { principal } = await ask(basic('alice'), { connection });
      expect((await ask(basic('bob'), { connection })).principal.name).toBe('bob');
      expect((await ask(basic('alice'), { connection })).principal.name).toBe('alice');
      await expect(refusalOf(ask(basic('alice', 'guess'), { connection }))).resolves.toMatchObject({
        code: 'credentials_refused',
      });
      authenticator.forget(principal);
      await ask(basic('alice'), { connection });
      await ask(basic('alice'), { connection, now: START + 60_000 });
      expect(asked.filter(({ password }) => password === 'alice')).toMatchObject([
        { known: false },
        { known: false },
        { known: true },
      ]);
    });

    it('never remembers a refusal', async () => {
      const { verifier, asked } = fakeVerifier();
      const { ask } = authenticating(verifier);
      await refusalOf(ask(basic('alice', 'x')));
      await refusalOf(ask(basic('alice', 'x')));
      expect(asked).toHaveLength(2);
    });

    it('forgets a credential that the upstream has refused', async () => {
      const { verifier, asked } = fakeVerifier();
      const { ask, authenticator } = authenticating(verifier);
      const { principal } = await ask(basic('alice'));
      authenticator.forget(principal);
      await ask(basic('alice'));
      expect(asked).toMatchObject([{ known: false }, { known: false }]);
    });

    it('does not remember a verification if its credential was forgotten in the meantime', async () => {
      const verification = Promise.withResolvers<Verification>();
      const { verifier, asked } = fakeVerifier(() => verification.promise);
      const { ask, authenticator } = authenticating(verifier);
      const asking = ask(basic('alice'));
      authenticator.forget({ kind: 'verified', name: 'alice', authorization: basic('alice') });
      verification.resolve({ kind: 'valid' });
      await asking;
      await ask(basic('alice'));
      expect(asked).toHaveLength(2);
    });

    it('forgets everything when the verifier turns out unusable', async () => {
      const { verifier, asked } = fakeVerifier();
      const fault = { source: 'configuration', pointer: '', message: 'unusable' };
      const { ask, authenticator } = authenticating({
        ...verifier,
        calibrate: () => Promise.resolve({ kind: 'unusable', fault }),
      });
      await ask(basic('alice'));
      await authenticator.calibrate();
      await ask(basic('alice'));
      expect(asked).toHaveLength(2);
    });

    it('forgets everything when a verification shows that the verifier is unusable', async () => {
      const unusable: Verification = { kind: 'unavailable', retryAfterSeconds: 5, unusable: true };
      const { verifier, asked } = fakeVerifier(({ name }) => (name === 'bob' ? unusable : { kind: 'valid' }));
      const { ask } = authenticating(verifier);
      await ask(basic('alice'));
      await refusalOf(ask(basic('bob')));
      await ask(basic('alice'));
      expect(asked.map(({ name }) => name)).toEqual(['alice', 'bob', 'alice']);
    });

    // An outage of the upstream must not make every caller wait for a verification, least of all while it lasts.
    it('forgets nothing when a credential cannot be verified now, whether it is known or not', async () => {
      let isAway = false;
      const away: Verification = { kind: 'unavailable', retryAfterSeconds: 5, unusable: false };
      const { verifier, asked } = fakeVerifier(() => (isAway ? away : { kind: 'valid' }));
      const { ask } = authenticating(verifier);
      await ask(basic('alice'));
      await ask(basic('bob'), { now: START + 30_000 });
      isAway = true;
      for (const name of ['alice', 'carol'])
        expect(await refusalOf(ask(basic(name), { now: START + 60_000 }))).toMatchObject({ status: 503 });
      expect((await ask(basic('bob'), { now: START + 60_000 })).principal.name).toBe('bob');
      isAway = false;
      await ask(basic('alice'), { now: START + 60_000 });
      expect(asked.at(-1)).toMatchObject({ name: 'alice', known: true });
    });

    it('verifies a credential once for parallel requests, which all get the result', async () => {
      const { verifier, asked } = fakeVerifier();
      const { ask } = authenticating(verifier);
      const results = await Promise.all(Array.from({ length: 20 }, () => ask(basic('alice'))));
      expect(results.every(({ principal }) => principal.kind === 'verified')).toBe(true);
      expect(asked).toHaveLength(1);
    });
  });

  const guess = (ask: ReturnType<typeof authenticating>['ask'], index: number, clientAddress = '192.0.2.1') =>
    refusalOf(ask(basic('alice', `guess-${index}`), { clientAddress: () => clientAddress }));

  describe('the limit of failed attempts (docs/rules.md §2)', () => {
    const failures = { limit: 3, windowSeconds: 60, limitPerName: 100, trustSeconds: 0, maxPairs: 100 };

    it('returns 429 with the remaining seconds, without calling the verifier', async () => {
      const { verifier, asked } = fakeVerifier();
      const { ask } = authenticating(verifier, { failures });
      for (let index = 0; index < 3; index++) expect(await guess(ask, index)).toMatchObject({ status: 401 });
      const error = await refusalOf(ask(basic('alice', 'guess-4'), { now: START + 18_500 }));
      expect(error).toMatchObject({ code: 'too_many_attempts', headers: { 'Retry-After': '42' } });
      expect(asked).toHaveLength(3);
    });

    it('applies to parallel guesses', async () => {
      const { verifier, asked } = fakeVerifier();
      const { ask } = authenticating(verifier, { failures });
      const errors = await Promise.all(Array.from({ length: 50 }, (_, index) => guess(ask, index)));
      expect(errors.filter(({ status }) => status === 401)).toHaveLength(3);
      expect(asked).toHaveLength(3);
    });

    it('counts each pair of address and name separately', async () => {
      const { ask } = authenticating(fakeVerifier().verifier, { failures });
      for (let index = 0; index < 4; index++) await guess(ask, index);
      await expect(guess(ask, 9, '192.0.2.2')).resolves.toMatchObject({ status: 401 });
      await expect(ask(basic('bob'))).resolves.toMatchObject({ principal: { kind: 'verified' } });
    });

    // Servers treat some spellings of a name as the same account, so each of them would be another chance to guess.
    it('counts all spellings of a name as one', async () => {
      const { ask } = authenticating(fakeVerifier().verifier, { failures });
      const names = ['alice', 'Alice', 'ALICE', 'aLICE'];
      const errors = await Promise.all(names.map((name) => refusalOf(ask(basic(name, 'guess')))));
      expect(errors.map(({ status }) => status)).toEqual([401, 401, 401, 429]);
    });

    // The attack: a client can usually choose among the 2^64 addresses in its IPv6 network, and uses a new address
    // for each guess.
    it('counts all addresses of an IPv6 network as one', async () => {
      const { verifier, asked } = fakeVerifier();
      const { ask } = authenticating(verifier, { failures });
      for (let index = 0; index < 20; index++) await guess(ask, index, `2001:db8:1:2::${index.toString(16)}`);
      expect(asked).toHaveLength(3);
      await expect(guess(ask, 21, '2001:db8:1:3::1')).resolves.toMatchObject({ status: 401 });
    });

    it('never blocks a verified credential, even after its time is over', async () => {
      const { ask } = authenticating(fakeVerifier().verifier, { failures, cacheSeconds: 10 });
      await ask(basic('alice'));
      for (let index = 0; index < 10; index++) await guess(ask, index);
      await expect(ask(basic('alice'))).resolves.toMatchObject({ principal: { kind: 'verified' } });
      await expect(ask(basic('alice'), { now: START + 30_000 })).resolves.toMatchObject({
        principal: { kind: 'verified' },
      });
    });

    it('applies again to a credential that is no longer valid', async () => {
      let valid = true;
      const { verifier, asked } = fakeVerifier(() => ({ kind: valid ? 'valid' : 'invalid' }));
      const { ask } = authenticating(verifier, { failures, cacheSeconds: 0 });
      await ask(basic('alice'));
      valid = false;
      for (let index = 0; index < 10; index++) await refusalOf(ask(basic('alice')));
      expect(asked).toHaveLength(5);
    });

    it('does not count full queues, unavailable upstreams and successes', async () => {
      let kind: Verification['kind'] = 'busy';
      const { verifier, asked } = fakeVerifier(() => ({ kind, retryAfterSeconds: 1, unusable: false }));
      const { ask, authenticator } = authenticating(verifier, { failures });
      for (let index = 0; index < 10; index++) await guess(ask, index);
      kind = 'unavailable';
      for (let index = 0; index < 10; index++) await guess(ask, index);
      kind = 'valid';
      for (let index = 0; index < 10; index++) {
        await ask(basic('alice', `guess-${index}`));
        authenticator.forget({ kind: 'verified', name: 'alice', authorization: basic('alice', `guess-${index}`) });
      }
      kind = 'invalid';
      expect(await guess(ask, 1)).toMatchObject({ status: 401 });
      expect(asked).toHaveLength(31);
    });
  });
});

describe('the verified credentials', () => {
  const VERIFIER = fakeVerifier().verifier;

  it('are fresh for their time, known afterwards, and unknown once forgotten', () => {
    const memory = createVerifiedCredentials(60, 10);
    expect(memory.recall('key', START)).toBe('unknown');
    memory.remember('key', { name: 'alice' }, VERIFIER, START);
    expect(memory.recall('key', START + 59_999)).toBe('fresh');
    expect(memory.recall('key', START + 60_000)).toBe('known');
    memory.forget('key');
    expect(memory.recall('key', START)).toBe('unknown');
  });

  it('expire even when the clock starts at 0', () => {
    const memory = createVerifiedCredentials(60, 10);
    memory.remember('key', { name: 'alice' }, VERIFIER, 0);
    expect(memory.recall('key', 60_000)).toBe('known');
  });

  it('are never fresh if the time is 0 seconds', () => {
    const memory = createVerifiedCredentials(0, 10);
    memory.remember('key', { name: 'alice' }, VERIFIER, START);
    expect(memory.recall('key', START)).toBe('known');
  });

  it('are bounded', () => {
    const memory = createVerifiedCredentials(60, 2);
    for (const key of ['a', 'b', 'c']) memory.remember(key, { name: 'alice' }, VERIFIER, START);
    expect(['a', 'b', 'c'].map((key) => memory.recall(key, START))).toEqual(['unknown', 'fresh', 'fresh']);
  });

  it('can be cleared', () => {
    const memory = createVerifiedCredentials(60, 2);
    memory.remember('key', { name: 'alice' }, VERIFIER, START);
    memory.clear();
    expect(memory.recall('key', START)).toBe('unknown');
  });
});

describe('the keyed hash', () => {
  it('is equal only for the same texts under the same key', () => {
    const key = Buffer.alloc(32, 1);
    expect(createKeyedHash(key)('a', 'b')).toBe(createKeyedHash(key)('a', 'b'));
    expect(createKeyedHash()('a', 'b')).not.toBe(createKeyedHash()('a', 'b'));
  });

  it('distinguishes one list of texts from another', () => {
    const hash = createKeyedHash();
    const lists = [
      ['ab', 'c'],
      ['a', 'bc'],
      ['abc'],
      ['a', 'b', 'c'],
      ['1:a', ''],
      ['', '1:a'],
      ['a:b', 'c'],
      ['a', 'b:c'],
    ];
    expect(new Set(lists.map((list) => hash(...list))).size).toBe(lists.length);
  });
});

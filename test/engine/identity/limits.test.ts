import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFailureLimiter, createLoginLimiter, createWorkGate } from '../../../src/engine/identity/limits.ts';
import { authenticating, basic, fakeVerifier, refusalOf, START } from './identity-fixtures.ts';

describe('the failure limiter', () => {
  it('never lets more attempts fail within any window than the limit, and admits one after the announced wait', () => {
    const gaps = fc.array(
      fc.integer({ min: 0, max: 4 }).map((tens) => tens * 10_000),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), gaps, (limit, steps) => {
        const limiter = createFailureLimiter({ limit, windowSeconds: 30, maxPairs: 10 });
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
    const limiter = createFailureLimiter({ limit: 2, windowSeconds: 30, maxPairs: 10 });
    limiter.begin('home', 'alice', START);
    limiter.begin('home', 'alice', START + 1);
    limiter.withdraw('home', 'alice', START + 1);
    expect(limiter.begin('home', 'alice', START + 2)).toBeUndefined();
    expect(limiter.begin('home', 'alice', START + 3)).toEqual({ retryAfterSeconds: 30 });
  });

  it('bounds the number of pairs and drops the least recently used first', () => {
    const limiter = createFailureLimiter({ limit: 1, windowSeconds: 3600, maxPairs: 3 });
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
    const sprayed = (limiter: ReturnType<typeof createFailureLimiter>, network: string, count: number, now = START) =>
      Array.from({ length: count }, (_, index) => limiter.begin(network, `name-${index}`, now)).filter(
        (refused) => refused === undefined,
      ).length;

    it('lets that network fail only under its share of names, and admits all others', () => {
      const limiter = createFailureLimiter(options);
      expect(sprayed(limiter, 'flood', 5_000)).toBe(20);
      expect(limiter.begin('flood', 'alice', START)).toEqual({ retryAfterSeconds: 60 });
      expect(limiter.begin('home', 'alice', START)).toBeUndefined();
    });

    it('keeps the counts of other networks and of this one, so that spraying permits no further guesses', () => {
      const limiter = createFailureLimiter(options);
      for (const network of ['home', 'flood']) for (const at of [1, 2]) limiter.begin(network, 'alice', START + at);
      sprayed(limiter, 'flood', 5_000, START + 3);
      for (const network of ['home', 'flood']) expect(limiter.begin(network, 'alice', START + 4)).toBeDefined();
    });

    it('accepts new names again when the first ones expire', () => {
      const limiter = createFailureLimiter(options);
      sprayed(limiter, 'flood', 20);
      expect(limiter.begin('flood', 'new', START + 59_000)).toEqual({ retryAfterSeconds: 1 });
      expect(limiter.begin('flood', 'new', START + 60_000)).toBeUndefined();
    });

    it('does not count successful names towards the share', () => {
      const limiter = createFailureLimiter(options);
      limiter.begin('office', 'mistyped', START);
      for (let index = 0; index < 500; index += 1) {
        expect(limiter.begin('office', `name-${index}`, START)).toBeUndefined();
        limiter.withdraw('office', `name-${index}`, START);
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

describe('the work gate', () => {
  const HOME = '192.0.2.1';
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  /** Creates tasks that run until the test ends them, and records the order in which they start. */
  function tasks() {
    const began: string[] = [];
    const ends = new Map<string, PromiseWithResolvers<string>>();
    const task = (name: string) => () => {
      const end = Promise.withResolvers<string>();
      began.push(name);
      ends.set(name, end);
      return end.promise;
    };
    const end = async (name: string) => {
      ends.get(name)?.resolve(name);
      await settled();
    };
    const fail = async (name: string) => {
      ends.get(name)?.reject(new Error(name));
      await settled();
    };
    return { began, task, end, fail };
  }

  it('runs a limited number of concurrent tasks, and the others in order', async () => {
    const { began, task, end } = tasks();
    const gate = createWorkGate({ concurrency: 2, queue: 5 });
    const results = ['a', 'b', 'c', 'd'].map((name, index) => gate.run(task(name), false, `192.0.2.${index}`));
    expect(began).toEqual(['a', 'b']);
    await end('b');
    expect(began).toEqual(['a', 'b', 'c']);
    await end('a');
    expect(began).toEqual(['a', 'b', 'c', 'd']);
    await end('c');
    await end('d');
    await expect(Promise.all(results)).resolves.toEqual(['a', 'b', 'c', 'd']);
  });

  it('rejects tasks while the queue is full, and accepts tasks again afterwards', async () => {
    const { began, task, end } = tasks();
    const gate = createWorkGate({ concurrency: 1, queue: 1 });
    void gate.run(task('a'), false, HOME);
    void gate.run(task('b'), false, HOME);
    await expect(gate.run(task('c'), false, HOME)).resolves.toBeUndefined();
    await end('a');
    await end('b');
    void gate.run(task('d'), false, HOME);
    expect(began).toEqual(['a', 'b', 'd']);
  });

  it('gives precedence to urgent tasks and never rejects them', async () => {
    const { began, task, end } = tasks();
    const gate = createWorkGate({ concurrency: 1, queue: 1 });
    void gate.run(task('a'), false, HOME);
    void gate.run(task('b'), false, HOME);
    void gate.run(task('urgent-1'), true, HOME);
    void gate.run(task('urgent-2'), true, HOME);
    for (const name of ['a', 'urgent-1', 'urgent-2']) await end(name);
    expect(began).toEqual(['a', 'urgent-1', 'urgent-2', 'b']);
  });

  it('does not count urgent tasks toward the share of their network', async () => {
    const { began, task } = tasks();
    const gate = createWorkGate({ concurrency: 2, queue: 5 });
    void gate.run(task('urgent'), true, HOME);
    void gate.run(task('a'), false, HOME);
    expect(began).toEqual(['urgent', 'a']);
  });

  it('passes the slot of a failed task to the next', async () => {
    const { began, task, fail } = tasks();
    const gate = createWorkGate({ concurrency: 1, queue: 1 });
    const failing = gate.run(task('a'), false, HOME);
    void gate.run(task('b'), false, HOME);
    const seen = expect(failing).rejects.toThrow('a');
    await fail('a');
    await seen;
    expect(began).toEqual(['a', 'b']);
  });

  // The attack: one address sends made-up names and passwords faster than the passwords can be hashed. Previously,
  // these attempts filled the queue, and every caller logging in for the first time was refused with a 429.
  it("accepts another network's task while one network fills the queue, and runs it next", async () => {
    const { began, task, end } = tasks();
    const gate = createWorkGate({ concurrency: 1, queue: 3 });
    const flood = ['f1', 'f2', 'f3', 'f4', 'f5'].map((name) => gate.run(task(name), false, 'flood'));
    await expect(flood[4]).resolves.toBeUndefined();
    const newcomer = gate.run(task('newcomer'), false, HOME);
    await expect(flood[3]).resolves.toBeUndefined();
    for (const name of ['f1', 'f2']) await end(name);
    expect(began).toEqual(['f1', 'f2', 'newcomer']);
    await end('newcomer');
    await expect(newcomer).resolves.toBe('newcomer');
    await end('f3');
    await expect(Promise.all(flood.slice(0, 3))).resolves.toEqual(['f1', 'f2', 'f3']);
  });

  it('rejects no task of a network with as many waiting tasks', async () => {
    const { task } = tasks();
    const gate = createWorkGate({ concurrency: 1, queue: 2 });
    for (const [name, network] of [
      ['a', 'one'],
      ['b', 'one'],
      ['c', 'two'],
    ] as const)
      void gate.run(task(name), false, network);
    await expect(gate.run(task('d'), false, 'two')).resolves.toBeUndefined();
    await expect(gate.run(task('e'), false, 'three')).resolves.toBeUndefined();
  });

  // If the upstream is slow, each probe takes seconds. A single address must not occupy all slots during that time.
  it('reserves a slot that a single network never gets', () => {
    const { began, task } = tasks();
    const gate = createWorkGate({ concurrency: 3, queue: 9 });
    for (const name of ['f1', 'f2', 'f3', 'f4']) void gate.run(task(name), false, 'flood');
    expect(began).toEqual(['f1', 'f2']);
    void gate.run(task('newcomer'), false, HOME);
    expect(began).toEqual(['f1', 'f2', 'newcomer']);
  });

  it('forgets networks without tasks', async () => {
    const { began, task, end } = tasks();
    const gate = createWorkGate({ concurrency: 2, queue: 2 });
    for (let round = 0; round < 3; round += 1) {
      const names = [`a${round}`, `b${round}`];
      for (const name of names) void gate.run(task(name), false, HOME);
      for (const name of names) await end(name);
    }
    expect(began).toHaveLength(6);
  });
});

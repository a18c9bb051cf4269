import { describe, expect, it } from 'vitest';
import type { DocumentParts } from '../../../src/engine/sharing/sharing.ts';
import { type CutoverState, type Decision, FIRST } from '../../../src/features/cutover/cutover-state.ts';
import { createCutoverStore } from '../../../src/features/cutover/cutover-store.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { sharedBy } from '../../builders/fleet.ts';
import { knowing } from '../../builders/knowing-upstream.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { EXAMPLE_IDS, operationOf } from '../../builders/operations.ts';
import { startRedisServer } from '../../builders/redis-server.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { eventually, until } from '../../builders/until.ts';

const TOKEN = 'the-admin-token';
const bearer = { Authorization: `Bearer ${TOKEN}` };
const QUESTIONS = '/services/v2/question.json';
const FAVORITE = operationOf('unmarkFavorite').target(EXAMPLE_IDS);

const startServer = (name: string): Promise<FakeUpstream> =>
  startFakeUpstream(
    knowing((request) => {
      const { json, ...given } = exampleResponse(request);
      return { ...given, json: typeof json === 'object' && json !== null && 'list' in json ? { ...json, name } : json };
    }),
  );

describe('the store of a gateway in a fleet', () => {
  /** A gateway whose document is what the test says that the others have written. */
  const open = (stored?: CutoverState) => {
    const clock = createTestClock(1_000_000);
    const resumed = { count: 0 };
    const shared: { parts?: DocumentParts<CutoverState>; theirs?: CutoverState } = {};
    const sync = () => {
      const { parts, theirs } = shared;
      const mine = parts?.current();
      const merged = parts && mine && theirs && parts.merge(mine, mine, theirs);
      if (merged !== undefined && merged !== mine) parts?.adopt(merged);
      return Promise.resolve(true);
    };
    const store = createCutoverStore({
      stored: { key: Buffer.alloc(32), state: stored, stays: [], told: [] },
      file: ':memory:',
      server: 'https://new.example.org',
      settings: { originOf: () => undefined, placeOf: () => '' } as never,
      sharing: {
        openDocument: (_name: string, parts: DocumentParts<CutoverState>) => {
          shared.parts = parts;
          return { sync, start: sync, takeTurn: () => Promise.resolve(undefined) };
        },
        keyedHash: () => ({ id: () => 'a', hash: () => 'x'.repeat(30), read: () => Promise.resolve() }),
        status: () => ({ available: true, unsyncedSeconds: 0 }),
        changes: { listen: () => undefined },
      } as never,
      clock,
      logger: { warn: () => undefined, error: () => undefined } as never,
      onResume: () => void (resumed.count += 1),
    });
    const why = { cause: 'operator', reason: 'INC-17', by: 'ann', from: undefined } as const;
    return {
      store,
      clock,
      resumed,
      why,
      hear: (theirs: CutoverState) => {
        shared.theirs = theirs;
        return sync();
      },
      phase: () => store.inForce().phase,
    };
  };
  const one = (more: Partial<Decision>): Decision => ({ ...FIRST, number: 1, reason: 'INC-17', by: 'bob', ...more });
  const state = (...decisions: Decision[]): CutoverState => ({ server: 'https://new.example.org', decisions });

  it('lets a decision apply 0.2 s after it was made, or has become known, whatever the clocks of others say', async () => {
    const { store, clock, why, phase, hear } = open();
    store.decide({ ...why, phase: 'returned', moves: 'back' });
    expect(phase()).toBe('running');
    clock.advance(0.2);
    expect(phase()).toBe('returned');
    const far = one({ number: 2, phase: 'frozen', appliesAt: clock() + 60_000 });
    await hear(state(far, ...store.state().decisions));
    expect(phase()).toBe('returned');
    clock.advance(0.2);
    expect(phase()).toBe('frozen');
    const further = one({ number: 3, phase: 'running', appliesAt: clock() + 60_000 });
    await hear(state(further, ...store.state().decisions));
    expect(phase()).toBe('frozen');
    clock.advance(0.2);
    expect(phase()).toBe('running');
  });

  it('does not wait longer if the clock is set back', () => {
    const { store, clock, why, phase } = open();
    store.decide({ ...why, phase: 'returned', moves: 'back' });
    clock.advance(-300);
    expect(phase()).toBe('returned');
  });

  it('never lets an earlier decision apply again, also if another gateway has made the same one later', async () => {
    const { store, clock, why, phase, hear } = open();
    store.decide({ ...why, phase: 'returned', shares: { '*': 50 }, moves: 'back' });
    clock.advance(0.2);
    expect(phase()).toBe('returned');
    // The shares of theirs count, but they have returned, too.
    await hear(state(one({ phase: 'returned', shares: { '*': 5 }, appliesAt: clock() + 150 })));
    expect(phase()).toBe('returned');
    expect(store.latest().shares).toEqual({ '*': 5 });
  });

  it('lets what was decided before a crash apply at once', () => {
    const { phase } = open(state(one({ phase: 'returned', at: 1_000_000, appliesAt: 9_000_000 })));
    expect(phase()).toBe('returned');
  });

  it('says that a decision does not count if another gateway has returned at the same time', async () => {
    const { store, why, hear } = open();
    await hear(state());
    const theirs = state(one({ phase: 'returned', appliesAt: 900_000 }));
    const { kept } = (() => {
      const made = store.decide({ ...why, shares: { '*': 50 }, moves: 'forward' });
      void hear(theirs);
      return made;
    })();
    expect(await kept).toBeUndefined();
    expect(store.latest().phase).toBe('returned');
  });

  it('says once when the shares apply again', () => {
    const { store, clock, why, resumed, phase } = open(state(one({ phase: 'returned' })));
    store.decide({ ...why, phase: 'running', moves: 'forward' });
    expect([phase(), resumed.count]).toEqual(['returned', 0]);
    clock.advance(0.2);
    expect([phase(), phase(), resumed.count, store.resumedAt()]).toEqual(['running', 'running', 1, clock()]);
  });

  it('says so by its own clock, whatever that of the gateway says where it was decided', async () => {
    const { store, clock, hear } = open(state(one({ phase: 'returned' })));
    await hear(state(one({ number: 2, appliesAt: clock() - 60_000 }), one({ phase: 'returned' })));
    expect([store.inForce().phase, store.resumedAt()]).toEqual(['running', clock()]);
  });
});

needsProgram('redis', 'a fleet during a cut-over', (path) => {
  const startAll = async (cutover: object, clocks: readonly Clock[] = []) => {
    const redis = await startRedisServer(path);
    const [old, fresh] = await Promise.all([startServer('old'), startServer('new')]);
    const start = (index: number) =>
      startTestGateway({
        upstream: old,
        real: true,
        ...(clocks[index] && { clock: clocks[index] }),
        env: { PORTICO_ADMIN_TOKEN: TOKEN },
        config: {
          mode: 'strict',
          redis: { url: redis.url },
          cutover: { url: fresh.url, file: ':memory:', ...cutover },
        },
      });
    const gateways = await Promise.all([start(0), start(1)]);
    await until(() => gateways.every((one) => sharedBy(one).changes.position() !== undefined));
    return { gateways, old, fresh, redis };
  };
  const sideOf = async (gateway: TestGateway, user: string, target = QUESTIONS) =>
    ((await gateway.call(target, { user, password: user })).json as { readonly name?: string } | undefined)?.name;
  const post = (gateway: TestGateway, action: string, body: object) =>
    gateway.admin(`/cutover/${action}`, { method: 'POST', headers: bearer, body });

  it('follows a decision that was made at one gateway, and a gateway that starts later knows it', async () => {
    const { gateways, old, fresh, redis } = await startAll({ operations: { '*': { share: 0 } } });
    const [first, second] = gateways;
    expect((await post(first, 'set', { operation: '*', share: 100, by: 'ann' })).json).toMatchObject({
      stored: true,
      shared: true,
    });
    await eventually(async () => (await sideOf(second, 'bob')) === 'new');
    const third = await startTestGateway({
      upstream: old,
      real: true,
      config: {
        mode: 'strict',
        redis: { url: redis.url },
        cutover: { url: fresh.url, file: ':memory:', operations: { '*': { share: 0 } } },
      },
    });
    await eventually(async () => (await sideOf(third, 'carol')) === 'new');
  });

  it('says that other gateways have not heard of a decision while Redis cannot be reached', async () => {
    const { gateways, redis } = await startAll({ operations: { '*': { share: 100 } } });
    await redis.stop();
    expect((await post(gateways[0], 'return', {})).json).toMatchObject({ shared: false });
  });

  it('lets a caller who has written at one gateway stay at the other one', async () => {
    const { gateways } = await startAll({ operations: { '*': { share: 100 } } });
    const [first, second] = gateways;
    expect(await sideOf(second, 'bob')).toBe('new');
    await first.call(FAVORITE, { method: 'PUT', user: 'bob', password: 'bob' });
    await until(() => sharedBy(second).changes.position()?.number === sharedBy(first).changes.position()?.number);
    expect(await sideOf(first, 'bob')).toBe('old');
    expect(await sideOf(second, 'bob')).toBe('old');
    expect(await sideOf(second, 'carol')).toBe('new');
  });

  it('returns as a whole within a second when one gateway sees that the new server fails', async () => {
    const { gateways, fresh } = await startAll({ operations: { '*': { share: 100 } }, return: { minimum: 20 } });
    const [first, second] = gateways;
    expect(await sideOf(second, 'bob')).toBe('new');
    fresh.handler = knowing(() => ({ status: 500, json: { error: 'broken' } }));
    for (let index = 0; index < 20; index += 1) await sideOf(first, 'bob', `${QUESTIONS}?sort=s${index}`);
    const brokenAt = performance.now();
    await eventually(async () => (await sideOf(second, 'dora')) === 'old');
    expect(performance.now() - brokenAt).toBeLessThan(1000);
    expect(await sideOf(second, 'bob')).toBe('old');
  });

  it('applies the rule of steps by its own clock, also if that of another gateway is wrong', async () => {
    const clocks = [createTestClock(1_000_000_000), createTestClock(1_000_300_000)] as const;
    const { gateways } = await startAll(
      {
        operations: { '*': { share: 1 } },
        allow: ['ann'],
        steps: [{ share: 100, afterSeconds: 100, minimum: 1 }],
        return: { action: 'freeze', minimum: 20, coolDownSeconds: 200 },
      },
      clocks,
    );
    const [slow, fast] = gateways;
    const share = async () => {
      await sideOf(fast, 'ann', `${QUESTIONS}?sort=s${clocks[1]()}`);
      return fast.metric('portico_cutover_share{operation="listQuestions"}');
    };
    const pass = (seconds: number) => {
      for (const clock of clocks) clock.advance(seconds);
    };
    pass(150);
    await post(slow, 'set', { operation: '*', share: 10, by: 'ann' });
    await eventually(async () => {
      pass(0.1);
      return (await share()) === 0.1;
    });
    pass(90);
    expect(await share()).toBe(0.1);
    pass(20);
    await share();
    pass(1);
    expect(await share()).toBe(1);
  });

  it('cools down by its own clock, too, also if another gateway has seen the failure', async () => {
    const clocks = [createTestClock(1_000_000_000), createTestClock(1_000_300_000)] as const;
    const { gateways, fresh } = await startAll(
      {
        operations: { '*': { share: 1 } },
        allow: ['ann'],
        steps: [{ share: 100, afterSeconds: 1, minimum: 1 }],
        return: { action: 'freeze', minimum: 20, coolDownSeconds: 200 },
      },
      clocks,
    );
    const [slow, fast] = gateways;
    const pass = (seconds: number) => {
      for (const clock of clocks) clock.advance(seconds);
    };
    const phaseBecomes = (phase: string) =>
      eventually(async () => {
        pass(0.1);
        await sideOf(fast, 'bob');
        return (await fast.metric(`portico_cutover_phase{phase="${phase}"}`)) === 1;
      });
    const respond = fresh.handler;
    fresh.handler = knowing(() => ({ status: 500, json: { error: 'broken' } }));
    for (let index = 0; index < 20; index += 1) await sideOf(slow, 'ann', `${QUESTIONS}?sort=f${index}`);
    await phaseBecomes('frozen');
    fresh.handler = respond;
    await post(slow, 'resume', { by: 'ann' });
    await phaseBecomes('running');
    const shareAfter = async (seconds: number) => {
      pass(seconds);
      await sideOf(fast, 'ann', `${QUESTIONS}?sort=r${clocks[1]()}`);
      pass(1);
      return fast.metric('portico_cutover_share{operation="listQuestions"}');
    };
    expect(await shareAfter(150)).toBe(0.01);
    expect(await shareAfter(60)).toBe(1);
  });
});

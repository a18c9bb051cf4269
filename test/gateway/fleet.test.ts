import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClientResponse } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { errorText } from '../builders/error-shapes.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { caughtUp, sharedBy, startFleet } from '../builders/fleet.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { connectTo, type RedisServer, startRedisServer } from '../builders/redis-server.ts';
import { startTcpProxy } from '../builders/tcp-proxy.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { eventually, until } from '../builders/until.ts';

const QUESTIONS = '/services/v2/question.json';

needsProgram('redis', 'a fleet of gateways with a shared cache', (path) => {
  let redis: RedisServer;
  let fake: FakeUpstream;
  let fleet: TestGateway[];
  /** The title of the questions that the upstream returns. */
  let title = 'first';

  const fetches = () => fake.requests.filter((one) => one.path === QUESTIONS).length;
  const stateOf = (response: ClientResponse) => response.headers['cache-status'];
  const titleOf = (response: ClientResponse): string => response.json.list[0].title;
  const read = (gateway: TestGateway, user = 'alice', target = QUESTIONS) => gateway.call(target, { user });
  const hasTitle = (gateway: TestGateway, wanted: string) =>
    eventually(async () => titleOf(await read(gateway)) === wanted);
  const at = (index: number): TestGateway => {
    const gateway = fleet[index];
    if (gateway === undefined) throw new Error(`there is no gateway ${index}`);
    return gateway;
  };
  /** Sends a command to the server. */
  const ask = async (...args: string[]) => {
    const control = connectTo(redis.url);
    await until(() => control.isAvailable());
    const reply = await control.command('', args).finally(() => control.close());
    return reply as string | string[];
  };
  const redisKeys = async (group: string) => (await ask('KEYS', `*${group}*`)) as string[];
  const redisCalls = async (command: string) =>
    Number(new RegExp(`cmdstat_${command}:calls=([0-9]+)`).exec(String(await ask('INFO', 'commandstats')))?.[1]);
  const purgeAt = (gateway: TestGateway, body: object = { tags: ['questions'] }) =>
    gateway.admin('/cache/purge', { method: 'POST', body });
  const respond = () => {
    const page = exampleOf('listQuestions');
    page.list[0]['title'] = title;
    return { json: page };
  };

  beforeAll(async () => {
    redis = await startRedisServer(path);
    fake = await startFakeUpstream(exampleResponse);
    fleet = await startFleet(3, redis, fake);
  });
  beforeEach(async () => {
    title = 'first';
    fake.handler = (request) => (request.path === QUESTIONS ? respond() : exampleResponse(request));
    await purgeAt(at(0), { all: true });
    await Promise.all([caughtUp(at(1), at(0)), caughtUp(at(2), at(0))]);
    fake.requests.length = 0;
  });

  it('fetches a page once, and serves it at every gateway', async () => {
    await read(at(0));
    const second = await read(at(1));
    expect(stateOf(second)).toMatch(/^portico; hit; ttl=\d+; detail=shared$/);
    expect(stateOf(await read(at(1)))).toMatch(/^portico; hit; ttl=\d+$/);
    expect(fetches()).toBe(1);
  });

  it('fetches a page once for simultaneous requests at all gateways', async () => {
    const replies = await Promise.all(fleet.flatMap((gateway) => Array.from({ length: 5 }, () => read(gateway))));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(fetches()).toBe(1);
  });

  it('removes a purged page from every gateway', async () => {
    for (const gateway of fleet) await read(gateway);
    title = 'second';
    await purgeAt(at(0));
    await caughtUp(at(1), at(0));
    await caughtUp(at(2), at(0));
    for (const gateway of fleet) expect(titleOf(await read(gateway))).toBe('second');
    expect(fetches()).toBe(2);
  });

  it('purges at the gateway of the write before the response, even in the second level', async () => {
    await read(at(1));
    title = 'second';
    await purgeAt(at(0));
    expect(titleOf(await read(at(0)))).toBe('second');
  });

  // The fetch reads the old state, and its response arrives after the purge. If any gateway stored this response as a
  // new page, the purge would have no effect for as long as the page is fresh.
  it('never serves a page whose fetch began before a purge', async () => {
    const held = Promise.withResolvers<void>();
    fake.handler = async (request) => {
      if (request.path !== QUESTIONS) return exampleResponse(request);
      const old = respond();
      await held.promise;
      return old;
    };
    const slow = read(at(0));
    await fake.received(1);
    fake.handler = (request) => (request.path === QUESTIONS ? respond() : exampleResponse(request));
    title = 'second';
    await purgeAt(at(1));
    held.resolve();
    expect(titleOf(await slow)).toBe('first');
    await caughtUp(at(0), at(1));
    await caughtUp(at(2), at(1));
    for (const gateway of fleet) expect(titleOf(await read(gateway))).toBe('second');
  });

  it('counts the lookups in the second level', async () => {
    const before = sharedBy(at(1)).pages.counts();
    await read(at(0));
    await read(at(1));
    await read(at(1), 'bob');
    const { hit, miss } = sharedBy(at(1)).pages.counts();
    expect([hit - before.hit, miss - before.miss]).toEqual([1, 1]);
  });

  it('keeps the pages of two callers apart at every gateway', async () => {
    fake.handler = (request) => {
      if (request.path !== QUESTIONS) return exampleResponse(request);
      title = `for ${request.user ?? 'nobody'}`;
      return respond();
    };
    await read(at(0), 'alice');
    await read(at(1), 'bob');
    for (const gateway of fleet)
      for (const user of ['alice', 'bob']) expect(titleOf(await read(gateway, user))).toBe(`for ${user}`);
    expect(fetches()).toBe(2);
  });

  it('continues without Redis, and uses it again when it is back', async () => {
    await read(at(0));
    await redis.stop();
    await until(() => !sharedBy(at(1)).redis.isAvailable());
    expect(await read(at(1))).toMatchObject({ status: 200 });
    expect(fetches()).toBe(2);
    await redis.start();
    await until(() => fleet.every((one) => sharedBy(one).redis.isAvailable()));
  });

  // Without the bound, a disconnected gateway could serve purged pages for as long as they are fresh or may be served
  // stale.
  it('serves no page beyond the bound while changes cannot arrive, and the same pages again afterwards', async () => {
    const server = await startRedisServer(path);
    const clock = createTestClock();
    const config = { redis: { commandTimeoutMs: 4_000, maxUnsyncedSeconds: 5 }, cache: { freshSeconds: 3_600 } };
    const [alone] = await startFleet(1, server, fake, { clock, config });
    if (alone === undefined) throw new Error('no gateway was started');
    await until(() => sharedBy(alone).changes.syncedAt() > 0);
    const other = '/services/v2/question.json?pageSize=5';
    await read(alone);
    await server.stop();
    await until(() => !sharedBy(alone).redis.isAvailable());
    clock.advance(5);
    expect(stateOf(await read(alone))).toMatch(/^portico; hit; ttl=3595/);
    clock.advance(1);
    expect(stateOf(await read(alone))).toBe('portico; fwd=miss; stored');
    await read(alone, 'alice', other);
    clock.advance(4);
    expect(stateOf(await read(alone))).toMatch(/^portico; hit/);
    clock.advance(2);
    expect(stateOf(await read(alone))).toBe('portico; fwd=miss; stored');
    // The server has lost its data, so nothing stored earlier may be served.
    await server.start();
    clock.advance(2);
    await until(() => sharedBy(alone).follower.isSynced());
    expect(stateOf(await read(alone, 'alice', other))).toMatch(/fwd=miss/);
  });

  it('uses its pages again if the connection was interrupted and no change was missed', async () => {
    const server = await startRedisServer(path);
    const clock = createTestClock();
    const config = { cache: { freshSeconds: 36_000 } };
    const [alone] = await startFleet(1, server, fake, { clock, config });
    if (alone === undefined) throw new Error('no gateway was started');
    await until(() => sharedBy(alone).changes.syncedAt() > 0);
    await read(alone);
    server.freeze();
    await until(() => {
      // The clock has to advance before the gateway notices that the server is not replying.
      clock.advance(100);
      return !sharedBy(alone).follower.isSynced();
    });
    server.thaw();
    await until(() => {
      clock.advance(1);
      return sharedBy(alone).follower.isSynced();
    });
    expect(stateOf(await read(alone))).toMatch(/^portico; hit; ttl=\d+$/);
  });

  /** Starts two gateways. One gateway's connection to Redis can be cut; the other's stays up. */
  const startBesideProxy = async () => {
    const server = await startRedisServer(path);
    const proxy = await startTcpProxy(server.port);
    const config = { cache: { freshSeconds: 3_600 } };
    const start = async (address: { url: string }) =>
      ((await startFleet(1, address, fake, { config })) as [TestGateway])[0];
    const writer = await start({ url: `redis://127.0.0.1:${proxy.port}` });
    return { proxy, writer, reader: await start(server) };
  };

  // The other gateways cannot know about writes through a disconnected gateway. They serve the old page until it
  // expires, but not after the gateway has reconnected.
  it('sends its purges as soon as it is connected again, if only this gateway was cut off', async () => {
    const { proxy, writer, reader } = await startBesideProxy();
    await read(reader);
    proxy.cut();
    await until(() => !sharedBy(writer).redis.isAvailable());
    title = 'second';
    const body = { body: 'a comment' };
    const written = await writer.call('/services/v2/node/118/comment.json', { user: 'alice', method: 'POST', body });
    expect(written.status).toBe(201);
    expect(titleOf(await read(writer))).toBe('second');
    expect(titleOf(await read(reader))).toBe('first');
    proxy.restore();
    await hasTitle(reader, 'second');
    expect(titleOf(await read(writer))).toBe('second');
  });

  it('loses no purge if the connection is cut again and again', async () => {
    const { proxy, writer, reader } = await startBesideProxy();
    for (let round = 0; round < 3; round += 1) {
      title = `round ${round}`;
      await read(reader);
      title = `round ${round} written`;
      // The connection breaks while the purge is being sent, so the writing gateway cannot know whether the purge
      // arrived.
      const purged = purgeAt(writer);
      if (round % 2 === 0) proxy.cut();
      await purged;
      proxy.restore();
      await hasTitle(reader, `round ${round} written`);
    }
  });

  it('refuses a page at a gateway that has never seen the list, because another one knows its page count', async () => {
    fake.handler = (request) => {
      if (request.path !== QUESTIONS) return exampleResponse(request);
      const { json } = respond();
      return { json: { ...json, pageCount: 3 } };
    };
    await read(at(0));
    await eventually(async () => (await redisKeys('count')).length > 0);
    expect(await read(at(1), 'alice', `${QUESTIONS}?page=9`)).toMatchObject({ status: 400 });
    expect(fetches()).toBe(1);
    // Another caller may receive a different list.
    expect((await read(at(1), 'bob', `${QUESTIONS}?page=9`)).status).toBe(400);
    expect(fetches()).toBe(2);
    // After a purge, the page count is unknown again, because the write that caused the purge may have added pages.
    await purgeAt(at(0));
    await caughtUp(at(2), at(0));
    await read(at(2), 'alice', `${QUESTIONS}?page=9`);
    expect(fetches()).toBe(3);
  });

  it('looks up a page count that nobody knows only once in a while', async () => {
    const [alone] = (await startFleet(1, redis, fake, { clock: createTestClock() })) as [TestGateway];
    await read(alone, 'alice', `${QUESTIONS}?page=1&pageSize=7`);
    const page2 = `${QUESTIONS}?page=2&pageSize=9`;
    fake.handler = (request) =>
      request.path === QUESTIONS ? errorText(500, 'out of order') : exampleResponse(request);
    await read(alone, 'alice', page2);
    const before = await redisCalls('get');
    await read(alone, 'alice', page2);
    // Redis is queried only for the page, not for the count.
    expect((await redisCalls('get')) - before).toBe(1);
  });

  describe('at the end of the freshness of a page', () => {
    const startPair = async (cache: object) => {
      const clock = createTestClock();
      const server = await startRedisServer(path);
      const pair = await startFleet(2, server, fake, { clock, config: { cache } });
      const passed = async (seconds: number) => {
        clock.advance(seconds);
        await until(() => pair.every((one) => sharedBy(one).follower.isSynced()));
      };
      await passed(0);
      for (const one of pair) await read(one);
      return { pair, passed };
    };
    const many = (pair: readonly TestGateway[]) =>
      Promise.all(pair.flatMap((one) => Array.from({ length: 5 }, () => read(one))));

    it('fetches it once for all gateways, before it is stale or when it is stale, and lets nobody wait', async () => {
      const { pair, passed } = await startPair({ freshSeconds: 30, earlyRefresh: 0.1 });
      expect(fetches()).toBe(1);
      for (const [seconds, old, next] of [
        [29, 'first', 'second'],
        [31, 'second', 'third'],
      ] as const) {
        await passed(seconds);
        title = next;
        const replies = await many(pair);
        expect(new Set(replies.map(titleOf)).has(old), `after ${seconds} seconds`).toBe(true);
        for (const one of pair) await hasTitle(one, next);
      }
      expect(fetches()).toBe(3);
    });

    it('fetches it only when it is stale, if earlyRefresh is 0', async () => {
      const { pair, passed } = await startPair({ earlyRefresh: 0 });
      await passed(29);
      await many(pair);
      expect(fetches()).toBe(1);
    });
  });

  it('compresses a page once for all gateways', async () => {
    fake.handler = (request) => {
      if (request.path !== QUESTIONS) return exampleResponse(request);
      title = 'x'.repeat(5_000);
      return respond();
    };
    const compressed = async (gateway: TestGateway) => {
      const { headers } = await gateway.call(QUESTIONS, { user: 'alice', headers: { 'accept-encoding': 'gzip' } });
      return headers['content-encoding'] === 'gzip';
    };
    await eventually(() => compressed(at(0)));
    // Redis executes this command after those that the gateway has already sent.
    await sharedBy(at(0)).redis.command('', ['PING']);
    const sets = await redisCalls('set');
    await eventually(() => compressed(at(1)));
    expect(await redisCalls('set')).toBe(sets);
  });

  // A hung server accepts commands and never replies. Requests must not wait for it longer than the timeout.
  it('serves requests while Redis hangs, and no page beyond the bound', async () => {
    const server = await startRedisServer(path);
    const clock = createTestClock();
    const config = { redis: { commandTimeoutMs: 100, maxUnsyncedSeconds: 60 }, cache: { freshSeconds: 3_600 } };
    const [alone] = (await startFleet(1, server, fake, { clock, config })) as [TestGateway];
    await read(alone);
    server.freeze();
    title = 'second';
    expect((await read(alone, 'bob')).status).toBe(200);
    expect(titleOf(await read(alone))).toBe('first');
    clock.advance(61);
    expect(titleOf(await read(alone))).toBe('second');
    server.thaw();
    await until(() => {
      // The gateway uses Redis again after a second.
      clock.advance(0.05);
      return sharedBy(alone).redis.isAvailable() && sharedBy(alone).follower.isSynced();
    });
    expect((await read(alone)).status).toBe(200);
  });

  it('serves requests while Redis is full, and no page beyond the bound', async () => {
    const server = await startRedisServer(path, ['--maxmemory', '1mb', '--maxmemory-policy', 'noeviction']);
    const control = connectTo(server.url);
    await until(() => control.isAvailable());
    await control.command('', ['CONFIG', 'SET', 'maxmemory', '0']);
    const clock = createTestClock();
    const config = { redis: { maxUnsyncedSeconds: 60 }, cache: { freshSeconds: 3_600 } };
    const [alone] = (await startFleet(1, server, fake, { clock, config })) as [TestGateway];
    await read(alone);
    await control.command('', ['CONFIG', 'SET', 'maxmemory', '1']);
    title = 'second';
    expect(titleOf(await read(alone))).toBe('first');
    clock.advance(61);
    expect(titleOf(await read(alone))).toBe('second');
    await control.command('', ['CONFIG', 'SET', 'maxmemory', '0']);
    control.close();
    await until(() => sharedBy(alone).follower.isSynced());
    expect((await read(alone)).status).toBe(200);
  });

  it('fetches a page again after Redis has evicted it, and purges it everywhere', async () => {
    const server = await startRedisServer(path);
    const [a, b] = (await startFleet(2, server, fake)) as [TestGateway, TestGateway];
    await read(a);
    const control = connectTo(server.url);
    await until(() => control.isAvailable());
    const lineage = sharedBy(a).changes.position()?.lineage;
    // The gateway responds before Redis has stored the page.
    await eventually(async () => ((await control.command('', ['KEYS', '*page:*}'])) as string[]).length > 0);
    await control.command('', ['FLUSHALL']);
    control.close();
    title = 'second';
    expect(titleOf(await read(b))).toBe('second');
    title = 'third';
    await purgeAt(b);
    await caughtUp(a, b);
    await until(() => [a, b].every((one) => sharedBy(one).changes.position()?.lineage !== lineage));
    for (const one of [a, b]) expect(titleOf(await read(one))).toBe('third');
  });

  it('drops a page from Redis that the caller may no longer see', async () => {
    const clock = createTestClock();
    const server = await startRedisServer(path);
    const [a, b] = (await startFleet(2, server, fake, { clock })) as [TestGateway, TestGateway];
    await read(a);
    fake.handler = (request) =>
      request.path === QUESTIONS ? errorText(403, 'You do not have permission') : exampleResponse(request);
    clock.advance(100);
    await until(() => [a, b].every((one) => sharedBy(one).follower.isSynced()));
    expect((await read(a)).status).toBe(403);
    fake.handler = (request) =>
      request.path === QUESTIONS ? errorText(500, 'out of order') : exampleResponse(request);
    // If the page were still stored, it would be served now that the upstream fails.
    expect((await read(b)).status).toBeGreaterThanOrEqual(500);
  });

  describe('with pages that callers share', () => {
    const config = {
      operations: { listQuestions: { cache: { audience: 'public', assumeImpersonal: true } } },
      cache: { sampleShared: 1 },
    };
    const demoted = ({ gateway }: TestGateway) => gateway.services.guard.demoted();

    // One gateway finds that the responses contain the caller's data. If the other gateways did not learn of this, they
    // would keep serving one caller's data to others.
    it('stores them for each caller at every gateway, once one gateway has found that they differ', async () => {
      const server = await startRedisServer(path);
      const [a, b] = (await startFleet(2, server, fake, { config, random: () => 0 })) as [TestGateway, TestGateway];
      fake.handler = (request) => {
        if (request.path !== QUESTIONS) return exampleResponse(request);
        title = `for ${request.user ?? 'nobody'}`;
        return respond();
      };
      await until(() => [a, b].every((one) => one.gateway.services.demotions.areKnown()));
      expect(titleOf(await read(a, 'alice'))).toBe('for alice');
      // The operator has declared that responses do not depend on the caller, so the first response is shared.
      expect(titleOf(await read(b, 'bob'))).toBe('for alice');
      await until(() => demoted(a).length > 0 && demoted(b).length > 0);
      for (const gateway of [a, b])
        for (const user of ['alice', 'bob']) expect(titleOf(await read(gateway, user))).toBe(`for ${user}`);
      // A gateway that starts later reads the demotions before its callers share any responses.
      const [late] = (await startFleet(1, server, fake, { config })) as [TestGateway];
      await until(() => demoted(late).includes('listQuestions'));
      expect(titleOf(await read(late, 'bob'))).toBe('for bob');
    });

    // A page shared by callers with the same permissions must not reach a caller with other permissions, no matter
    // which gateway fetched the page and which one serves it.
    it('never serves a page to a caller with other permissions, at any gateway', async () => {
      const audience = {
        operations: { listQuestions: { cache: { audience: 'permissions', assumeImpersonal: true } } },
      };
      const server = await startRedisServer(path);
      const pair = await startFleet(2, server, fake, { config: { ...audience, cache: { sampleShared: 0 } } });
      await until(() => pair.every((one) => one.gateway.services.demotions.areKnown()));
      fake.handler = (request) => {
        if (request.path !== QUESTIONS) return exampleResponse(request);
        title = `for ${request.user ?? 'nobody'}`;
        return respond();
      };
      for (let round = 0; round < 10; round += 1) {
        await Promise.all(
          pair.flatMap((one) =>
            ['admin', 'alice'].map(async (user) => expect(titleOf(await read(one, user))).toBe(`for ${user}`)),
          ),
        );
        if (round % 5 === 4) await Promise.all(pair.map((one) => purgeAt(one)));
      }
      expect(fetches()).toBeLessThan(20);
    });

    it('stores them for each caller while the demotions of the others are not known', async () => {
      const [alone] = (await startFleet(1, redis, fake, { config: { ...config, cache: { sampleShared: 0 } } })) as [
        TestGateway,
      ];
      await until(() => alone.gateway.services.demotions.areKnown());
      const unreachable = { url: 'redis://127.0.0.1:1' };
      const cutOff = await startTestGateway({ upstream: fake, config: { ...config, redis: unreachable } });
      await read(cutOff, 'alice');
      await read(cutOff, 'bob');
      expect(fetches()).toBe(2);
      await read(alone, 'alice');
      await read(alone, 'bob');
      expect(fetches()).toBe(3);
    });
  });
});

import { expect, it } from 'vitest';
import type { ClientResponse } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { caughtUp, sharedBy, startFleet } from '../builders/fleet.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { connectTo, startRedisServer } from '../builders/redis-server.ts';
import { startTcpProxy } from '../builders/tcp-proxy.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';

const QUESTIONS = '/services/v2/question.json';
const read = (gateway: TestGateway, user = 'alice') => gateway.call(QUESTIONS, { user });
const titleOf = (reply: ClientResponse): string => reply.json.list[0].title;
const stateOf = (reply: ClientResponse) => String(reply.headers['cache-status']);
const purgeAt = (gateway: TestGateway) => gateway.admin('/cache/purge', { method: 'POST', body: { all: true } });

/** Starts an upstream that counts the fetches. The test can change the title of its first question. */
async function startTitled(): Promise<{ upstream: FakeUpstream; say(title: string): void; fetches(): number }> {
  let title = 'first';
  const upstream = await startFakeUpstream((request) => {
    if (request.path !== QUESTIONS) return exampleResponse(request);
    const page = exampleOf('listQuestions');
    page.list[0]['title'] = title;
    return { json: page };
  });
  return {
    upstream,
    say: (next) => {
      title = next;
    },
    fetches: () => upstream.requests.filter(({ path }) => path === QUESTIONS).length,
  };
}

needsProgram('redis', 'a fleet under odd conditions', (path) => {
  // A purge must not depend on clocks. The numbers in the log determine which pages are older than the purge.
  it('purges the pages of all gateways even though their clocks differ by five minutes', async () => {
    const server = await startRedisServer(path);
    const { upstream, say } = await startTitled();
    const gateways: TestGateway[] = [];
    for (const minutes of [-5, 0, 5]) {
      const clock = () => Date.now() + minutes * 60_000;
      gateways.push(...(await startFleet(1, server, upstream, { clock, config: { cache: { freshSeconds: 600 } } })));
    }
    for (const writer of gateways) {
      const title = `written at ${gateways.indexOf(writer)}`;
      for (const one of gateways) await read(one);
      say(title);
      await purgeAt(writer);
      for (const one of gateways) await caughtUp(one, writer);
      for (const one of gateways) expect(titleOf(await read(one))).toBe(title);
      for (const one of gateways) expect(stateOf(await read(one))).toMatch(/^portico; hit/);
    }
    // Limits, logins and the list of gateways depend on the server's clock.
    for (const one of gateways) expect(await one.metric('portico_redis_unsynced_seconds')).toBeLessThan(5);
  });

  // The other tests run at the same time, because they mostly wait for a gateway to try again.
  it.concurrent('shares nothing between two fleets that use the same server with different prefixes', async () => {
    const server = await startRedisServer(path);
    const [one, other] = [await startTitled(), await startTitled()];
    const rateLimits = [{ name: 'all', requests: 3, windowSeconds: 60 }];
    const start = async ({ upstream }: typeof one, prefix: string) =>
      (await startFleet(1, server, upstream, { config: { rateLimits, redis: { prefix } } })) as [TestGateway];
    const [a] = await start(one, 'one');
    const [b] = await start(other, 'other');
    other.say('of the other');
    expect(titleOf(await read(a))).toBe('first');
    expect(titleOf(await read(b))).toBe('of the other');
    await purgeAt(a);
    expect(stateOf(await read(b))).toMatch(/^portico; hit/);
    expect(stateOf(await read(a))).toBe('portico; fwd=miss; stored');
    await until(() => [a, b].every((gateway) => sharedBy(gateway).instances.list().length > 0));
    expect([a, b].map((gateway) => sharedBy(gateway).instances.list().length)).toEqual([1, 1]);
    // The budgets are separate too.
    expect([(await read(a)).status, (await read(a)).status, (await read(b)).status]).toEqual([200, 429, 200]);
  });

  it.concurrent('serves requests while each reply of Redis takes as long as the timeout', async () => {
    const server = await startRedisServer(path);
    const proxy = await startTcpProxy(server.port);
    const { upstream } = await startTitled();
    const url = `redis://127.0.0.1:${proxy.port}`;
    const config = {
      redis: { url, commandTimeoutMs: 250 },
      rateLimits: [{ name: 'all', requests: 1_000, windowSeconds: 60 }],
    };
    const gateway = await startTestGateway({ upstream, config });
    await until(() => sharedBy(gateway).follower.isSynced());
    proxy.delay(250);
    for (let count = 0; count < 10; count += 1) {
      expect((await read(gateway, count % 2 === 0 ? 'alice' : 'bob')).status).toBe(200);
    }
    proxy.delay(0);
    await until(() => sharedBy(gateway).redis.isAvailable() && sharedBy(gateway).follower.isSynced());
  });

  it.concurrent(
    'starts with a wrong password, says why it is alone, and joins when the password is right',
    async () => {
      const server = await startRedisServer(path, ['--requirepass', 'right-password']);
      const { upstream } = await startTitled();
      const gateway = await startTestGateway({
        upstream,
        config: { redis: { url: `redis://:wrong@127.0.0.1:${server.port}` } },
      });
      await until(() => gateway.log.some((line) => line.includes('Redis is not available')));
      expect(gateway.log.join('')).toMatch(/"reason":"(?:WRONGPASS|NOAUTH)"/);
      expect((await read(gateway)).status).toBe(200);
      expect((await gateway.admin('/readyz')).status).toBe(200);
      const control = connectTo(`redis://:right-password@127.0.0.1:${server.port}`);
      await until(() => control.isAvailable());
      await control.command('', ['CONFIG', 'SET', 'requirepass', 'wrong']);
      await until(() => sharedBy(gateway).redis.isAvailable() && sharedBy(gateway).follower.isSynced());
      control.close();
    },
  );

  it.concurrent('says which permission an ACL user lacks, and serves requests meanwhile', async () => {
    const server = await startRedisServer(path, '--user gw on >secret ~other* &* +@all'.split(' '));
    const { upstream } = await startTitled();
    const gateway = await startTestGateway({
      upstream,
      config: { redis: { url: `redis://gw:secret@127.0.0.1:${server.port}` } },
    });
    expect((await read(gateway)).status).toBe(200);
    await until(() => gateway.log.some((line) => line.includes('Redis refuses the changes of this gateway')));
    expect(gateway.log.join('')).toContain('"reason":"NOPERM"');
    const control = connectTo(server.url);
    await until(() => control.isAvailable());
    await control.command('', ['ACL', 'SETUSER', 'gw', '~{portico:*']);
    control.close();
    await until(() => gateway.log.some((line) => line.includes('Redis accepts the changes of this gateway again')));
    expect(sharedBy(gateway).follower.isSynced()).toBe(true);
  });

  // A gateway receives SIGTERM while it holds a page's lock. The others must receive the page from it or fetch the page
  // themselves.
  it.concurrent('lets nobody wait for a page in vain if the gateway that fetches it is closed', async () => {
    const server = await startRedisServer(path);
    const { upstream, fetches } = await startTitled();
    const config = { listen: { drainSeconds: 60 } };
    const [a, b] = (await startFleet(2, server, upstream, { config })) as [TestGateway, TestGateway];
    const own = upstream.handler;
    const held = Promise.withResolvers<void>();
    upstream.handler = async (request, response) => {
      if (fetches() === 1) await held.promise;
      return own(request, response);
    };
    const first = read(a);
    await upstream.received(1);
    const second = read(b);
    const closed = a.close();
    held.resolve();
    expect((await first).status).toBe(200);
    expect((await second).status).toBe(200);
    await closed;
    expect(fetches()).toBeLessThanOrEqual(2);
    expect((await read(b)).status).toBe(200);
  });
});

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { fastRoles } from '../builders/fast-roles.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';

/*
 * The attack: a client sends a `Host` header (or a forwarding header) of its choice. If addresses in responses are
 * rewritten to the public address, that host appears in the page. If the page is stored, it directs every later client
 * to the attacker's host, which may even receive its password. Therefore, stored responses contain the upstream's own
 * addresses, and each client receives the host that it requested.
 */

const QUESTIONS = '/services/v2/question.json';

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(() => {
    const example = exampleOf('listQuestions');
    const [first] = example.list;
    return { json: { ...example, list: [{ ...first, body: `see ${fake.url}/services/v2/comment/1.json` }] } };
  });
  const operations = { listQuestions: { cache: { audience: 'public', assumeImpersonal: true } } };
  gateway = await startTestGateway({
    upstream: fake,
    config: { rewriteUrls: true, operations, cache: { sampleShared: 0 } },
  });
});
beforeEach(() => {
  gateway.gateway.services.cache.purgeAll();
  fake.requests.length = 0;
});
const ask = (host: string, user = 'alice', headers = {}) =>
  gateway.call(QUESTIONS, { user, headers: { Host: host, ...headers } });

describe('a stored page', () => {
  it('never shows one client the host that another one sent', async () => {
    const poisoned = await ask('evil.example', 'bob');
    expect(poisoned.text).toContain('http://evil.example/services/v2/comment/1.json');
    const stored = await ask('public.example', 'alice');
    expect(stored.headers['cache-status']).toContain('hit');
    expect(stored.text).toContain('http://public.example/services/v2/comment/1.json');
    expect(stored.text).not.toContain('evil');
    expect(fake.requests).toHaveLength(1);
  });
  it("has a separate entity tag for each host, so that no client gets 304 for another host's page", async () => {
    const poisoned = await ask('evil.example', 'bob');
    const other = await ask('public.example', 'alice', { 'If-None-Match': poisoned.headers.etag });
    expect(other.status).toBe(200);
    expect(other.headers.etag).not.toBe(poisoned.headers.etag);
    expect((await ask('public.example', 'alice', { 'If-None-Match': other.headers.etag })).status).toBe(304);
  });
  it('is rewritten separately for each of several callers who wait for it', async () => {
    const hosts = ['a.example', 'evil.example', 'b.example'];
    const replies = await Promise.all(hosts.map((host) => ask(host)));
    replies.forEach(({ text }, index) => {
      expect(text).toContain(`http://${hosts[index]}/services/v2/comment/1.json`);
      for (const other of hosts) if (other !== hosts[index]) expect(text).not.toContain(other);
    });
  });
  it('does not vary by forwarding headers', async () => {
    await ask('public.example');
    const forged = await ask('public.example', 'bob', {
      'X-Forwarded-Host': 'evil.example',
      Forwarded: 'host=evil.example',
    });
    expect(forged.headers['cache-status']).toContain('hit');
    expect(forged.text).not.toContain('evil');
  });
});

const vouched = (audience: string) => ({ cache: { audience, assumeImpersonal: true } });
const countLookups = ({ gateway: { services } }: TestGateway) => {
  const { lookup } = services.cache;
  let count = 0;
  services.cache.lookup = (key) => {
    count += 1;
    return lookup(key);
  };
  return () => count;
};
const forwarded = (text: string) => JSON.stringify(text).match(/X-(?:Forwarded|Real)[^,]*/g);

describe('a configured public origin', () => {
  it('is the address that every client reads, whichever host it calls', async () => {
    const config = { rewriteUrls: true, publicOrigin: 'https://qa.example:8443', publicBasePath: '/base' };
    const fixed = await startTestGateway({ upstream: fake, config });
    const { text } = await fixed.call(`/base${QUESTIONS}`, { headers: { Host: 'evil.example' } });
    expect(text).toContain('https://qa.example:8443/base/services/v2/comment/1.json');
    expect(text).not.toContain('evil');
  });

  it.each([
    'qa.example',
    'https://qa.example/',
    'https://qa.example/qa',
    'ftp://qa.example',
    'https://a b',
    'https://a@b',
  ])('is refused at startup if it is invalid: %s', async (publicOrigin) => {
    await expect(startTestGateway({ upstream: fake, config: { publicOrigin } })).rejects.toMatchObject({
      faults: [{ pointer: '/publicOrigin' }],
    });
  });
});

describe('an invalid Host', () => {
  it.each(['evil.example/x?', 'a"b', 'a b', '<script>', 'evil.example\\', 'x","admin":"y'])(
    'is refused before it appears in any output: %s',
    async (host) => {
      const reply = await ask(host);
      expect(reply.status).toBe(400);
      expect(reply.text).not.toContain(host);
      expect(fake.requests).toEqual([]);
    },
  );

  it('with valid syntax but special characters cannot break out of the surrounding text', async () => {
    const reply = await ask("x'onload=alert(1)");
    expect(reply.status).toBe(200);
    const { list } = JSON.parse(reply.text) as { list: Record<string, unknown>[] };
    expect(Object.keys(list[0] ?? {}).toSorted()).toEqual(Object.keys(exampleOf('listQuestions').list[0]).toSorted());
    expect(list[0]?.['body']).toBe("see http://x'onload=alert(1)/services/v2/comment/1.json");
  });
});

/*
 * The attack: an upstream copies request headers into the page, as servers do with `X-Forwarded-Host` in links and with
 * request ids in comments. The client whose request fills the cache chooses those headers, and all other callers
 * receive the page. Therefore, if the response will be stored, the upstream request contains nothing chosen by the
 * client except what is also in the cache key.
 */
describe('an upstream that copies every header of a request into its page', () => {
  const EVIL = {
    Host: 'evil.example',
    'X-Request-Id': 'evil-request',
    traceparent: '00-e417e417e417e417e417e417e417e417-e417e417e417e417-01',
    tracestate: 'evil=1',
    baggage: 'evil=1',
    Forwarded: 'for=192.0.2.66;host=evil.example;proto=https',
    'X-Forwarded-For': '192.0.2.66',
    'X-Forwarded-Host': 'evil.example',
    'X-Forwarded-Proto': 'https',
    'X-Real-IP': '192.0.2.66',
    Via: '1.1 evil',
    Cookie: 'evil=1',
    'X-Auth-Token': 'evil',
    'User-Agent': 'evil',
    'Accept-Language': 'en-evil',
    Referer: 'http://evil.example/',
  };
  const EVIL_TRACES = /evil|e417e417|192\.0\.2\.66|127\.0\.0\.1/;
  const own = { cache: { audience: 'caller' } };
  const service = { kind: 'service', username: 'service', password: 'service' };

  // Bert has the same permissions as Alice, so they share pages whose audience is `permissions`.
  let roles: string;
  beforeAll(async () => {
    roles = await fastRoles([
      { name: 'bert', roles: ['standard', 'custom', 'private comments'], groups: ['Champions', 'Beta Testers'] },
    ]);
  });

  const start = async (operation: object, config: object = {}) => {
    const clock = createTestClock();
    const upstream = await startFakeUpstream(({ rawHeaders }) => {
      const example = exampleOf('listQuestions');
      const [first] = example.list;
      // The upstream's own address is replaced, because it does not come from the client.
      const copied = JSON.stringify(rawHeaders).replaceAll(new URL(upstream.url).host, 'upstream.example');
      return { json: { ...example, list: [{ ...first, body: copied }] } };
    });
    const server = await startTestGateway({
      upstream,
      clock,
      roles,
      config: { operations: { listQuestions: operation }, cache: { sampleShared: 0 }, ...config },
    });
    const evil = (user = 'bert') => server.call(QUESTIONS, { user, headers: EVIL });
    const good = (user = 'alice') => server.call(QUESTIONS, { user, headers: { Host: 'public.example' } });
    return { clock, upstream, server, evil, good };
  };

  describe.each([
    ['caller', own, {}, 'alice'],
    ['permissions', { cache: { audience: 'permissions' } }, { upstream: { credentials: service } }, 'bert'],
    ['public', { cache: { audience: 'public' } }, { upstream: { credentials: service } }, 'bert'],
    [
      'public with rewritten addresses',
      { cache: { audience: 'public' } },
      { upstream: { credentials: service }, rewriteUrls: true },
      'bert',
    ],
  ])('with the audience %s', (_name, operation, config, filler) => {
    it("puts nothing from the client that filled the cache into another caller's page", async () => {
      const { upstream, evil, good } = await start(operation, config);
      expect((await evil(filler)).status).toBe(200);
      const page = await good();
      expect(page.headers['cache-status']).toContain('hit');
      expect(page.text).not.toMatch(EVIL_TRACES);
      expect(forwarded(page.text)).toBeNull();
      expect(upstream.requests).toHaveLength(1);
    });

    it('puts nothing from it into the page of a caller who waited for the same request', async () => {
      const { upstream, server, evil, good } = await start(operation, config);
      const lookedUp = countLookups(server);
      const copy = upstream.handler;
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      upstream.handler = async (request, response) => {
        await held;
        return copy(request, response);
      };
      const leading = evil(filler);
      await upstream.received(1);
      const waiting = good();
      await until(() => lookedUp() === 2);
      release();
      const [, page] = await Promise.all([leading, waiting]);
      expect(page.headers['cache-status']).toContain('collapsed');
      expect(page.text).not.toMatch(EVIL_TRACES);
      expect(upstream.requests).toHaveLength(1);
    });

    it('puts nothing from the client that triggered a refresh into the refreshed page', async () => {
      const { clock, upstream, server, evil, good } = await start(operation, config);
      await good();
      clock.advance(40);
      expect((await evil(filler)).headers['cache-status']).toContain('hit');
      await upstream.received(2);
      const fresh = upstream.requests[1]?.headers['x-request-id'];
      let page = await good();
      while (!page.text.includes(String(fresh))) page = await good();
      expect(page.text).not.toMatch(EVIL_TRACES);
      expect(server.gateway.services.cache.stats().entries).toBe(1);
    });
  });

  it.each(['permissions', 'public'])(
    "shows no caller another's credential if pages of the audience %s are fetched with callers’ own",
    async (audience) => {
      const { evil, good } = await start(vouched(audience));
      const [leading, ...waiting] = await Promise.all([evil('bert'), good('alice'), good('alice')]);
      const later = [await evil('bert'), await good('alice')];
      for (const page of [...waiting, later[1]]) {
        expect(page?.text).not.toContain(basic('bert').slice(6));
        expect(page?.text).not.toMatch(EVIL_TRACES);
      }
      // Once the copied credential is detected, pages are stored separately for each caller and served only to that
      // caller.
      expect(leading.status).toBe(502);
      expect(later.map(({ status }) => status)).toEqual([200, 200]);
    },
  );

  it('gets the configured host and scheme, whichever host the client calls', async () => {
    const { upstream, server, evil } = await start(own, { publicOrigin: 'https://qa.example', rewriteUrls: true });
    await evil();
    expect(upstream.requests[0]?.headers).toMatchObject({
      'x-forwarded-host': 'qa.example',
      'x-forwarded-proto': 'https',
    });
    await server.call('/services/v2/comment/1.json', { headers: EVIL });
    expect(upstream.requests[1]?.headers).toMatchObject({
      'x-forwarded-host': 'qa.example',
      'x-forwarded-proto': 'https',
    });
  });

  it('gets a new request id, which the log contains beside the client’s', async () => {
    const { upstream, server, evil } = await start(own);
    await evil();
    const line = await server.lineOf('evil-request');
    expect(line['upstream']).toMatchObject({ requestId: upstream.requests[0]?.headers['x-request-id'] });
  });
});

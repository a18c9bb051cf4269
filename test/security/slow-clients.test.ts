import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';
import { connectRaw, type RawClient } from '../engine/upstream/support/raw-client.ts';

/*
 * The attack: a client requests or sends a large body, and reads or sends it one byte at a time. In `observe` mode, the
 * attack requires no credential and hardly any bandwidth. Each of these bodies used to occupy one of the few upstream
 * slots until it ended. With 32 slow clients, every other request that needed the upstream received a 503. Therefore,
 * bodies whose duration depends on the client occupy no slot. They count as streams, which have separate limits: in
 * total, per caller and per address. In `observe` mode, streams above these limits are only counted, and only the
 * memory for streams is limited.
 */

const COMMENT = '/services/v2/comment/271.json';
const UPLOAD = '/services/v2/users/gdpr/upload.json';
const BIG = '/services/v2/big.json';
const ANY = '/services/v2/any.json';
const ALLOW = [{ method: '*', path: '/services/v2/**' }];

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.handler = (request, response) => {
    if (request.path === ANY) return { json: {} };
    if (request.path !== BIG && !request.query.has('big')) return exampleResponse(request);
    // This body never ends, so it keeps the gateway busy just as an unread body would.
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000000' });
    response.write('x'.repeat(5000));
    return undefined;
  };
});

const slow = new Set<RawClient>();
afterEach(() => {
  for (const client of slow) client.socket.destroy();
  slow.clear();
});

interface Slow {
  readonly user?: string;
  readonly from?: string;
  readonly method?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** Opens a connection and sends a request. Reads only the head of the response. */
async function open(gateway: TestGateway, target: string, choice: Slow = {}): Promise<RawClient> {
  const { user, from, method = 'GET', headers = [], body = '' } = choice;
  const client = await connectRaw(Number(new URL(gateway.url).port));
  slow.add(client);
  const own = [
    ...(user === undefined ? [] : [`Authorization: ${basic(user)}`]),
    ...(from === undefined ? [] : [`X-Forwarded-For: ${from}`]),
    ...headers,
  ];
  client.send(`${method} ${target} HTTP/1.1`, 'Host: x', ...own, '', body);
  return client;
}

async function download(gateway: TestGateway, choice: Slow = {}, target = BIG): Promise<number> {
  const client = await open(gateway, target, choice);
  return Number((await client.until(/\r\n\r\n.*[x}]/s)).slice(9, 12));
}

const start = (mode: string, upstream: Record<string, unknown> = {}, more: Record<string, unknown> = {}) =>
  startTestGateway({
    upstream: fake,
    config: {
      mode,
      upstream: { queue: 0, ...upstream },
      undocumented: { allow: ALLOW },
      ...(mode === 'observe' ? {} : { cache: { enabled: false } }),
      listen: { trustedProxies: ['127.0.0.1'], maxBodyBytes: 2048 },
      ...more,
    },
  });
const streams = (gateway: TestGateway) => gateway.metric('portico_upstream_streams');

/** Checks that all other requests succeed, both documented and undocumented. */
async function expectOthersServed(gateway: TestGateway): Promise<void> {
  for (const target of [COMMENT, ANY]) expect([target, (await gateway.call(target)).status]).toEqual([target, 200]);
  expect(await gateway.metric('portico_upstream_in_flight')).toBe(0);
}

describe.each(['observe', 'staging', 'strict'])('in %s', (mode) => {
  it('more slow downloads than there are slots do not block other callers', async () => {
    const gateway = await start(mode, { streams: { perCaller: 64 } });
    const user = mode === 'observe' ? {} : { user: 'bob' };
    for (let count = 0; count < 40; count += 1) expect(await download(gateway, user)).toBe(200);
    await expectOthersServed(gateway);
    expect(await streams(gateway)).toBe(40);
  });

  it('slow uploads do not block other callers, whether their length is known, unknown or short', async () => {
    const gateway = await start(mode, { concurrency: 1 });
    const uploads = ['Content-Length: 900000', 'Transfer-Encoding: chunked', 'Content-Length: 100'];
    for (const header of uploads)
      await open(gateway, ANY, { user: 'bob', method: 'POST', headers: [header], body: '5\r\nab' });
    await expect.poll(() => streams(gateway)).toBe(2);
    await expectOthersServed(gateway);
  });
});

// In `observe` mode, streams above these limits are only counted, because Portico must not change the server's
// behavior.
describe.each(['staging', 'strict'])('in %s', (mode) => {
  it('a client over the limit of its address or caller gets 503 with Retry-After', async () => {
    const gateway = await start(mode, { streams: { total: 4, perCaller: 2, perAddress: 3 } });
    const anyone = (from: string, user: string) => download(gateway, { from, user });
    expect([await anyone('203.0.113.1', 'alice'), await anyone('203.0.113.2', 'alice')]).toEqual([200, 200]);
    fake.requests.length = 0;
    // The caller's limit is exhausted, regardless of the address.
    expect(await anyone('203.0.113.3', 'alice')).toBe(503);
    expect([await anyone('203.0.113.1', 'bob'), await anyone('203.0.113.1', 'bob')]).toEqual([200, 200]);
    // Both the address's limit and the total limit are exhausted.
    expect([await anyone('203.0.113.1', 'admin'), await anyone('203.0.113.9', 'admin')]).toEqual([503, 503]);
    const upload = { method: 'POST', headers: ['Transfer-Encoding: chunked'], body: '2\r\n{}' };
    const refused = await open(gateway, ANY, { from: '203.0.113.1', user: 'bob', ...upload });
    expect(await refused.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 503 [^]*^retry-after: \d+\r$/im);
    expect(fake.requests.map(({ user }) => user)).toEqual(['bob', 'bob']);
    // Documented requests do not use a stream.
    expect((await gateway.call(COMMENT)).status).toBe(200);
  });

  it('a stream that ends frees its place for the next', async () => {
    const gateway = await start(mode, { streams: { total: 1, perCaller: 1, perAddress: 1 } });
    expect(await download(gateway, { user: 'bob' })).toBe(200);
    expect(await download(gateway, { user: 'bob' })).toBe(503);
    for (const client of slow) client.socket.destroy();
    await expect.poll(() => streams(gateway)).toBe(0);
    expect(await download(gateway, { user: 'bob' })).toBe(200);
  });

  it('a slow client does not decide the trial after an outage', async () => {
    const clock = createTestClock();
    const config = { mode, undocumented: { allow: ALLOW }, upstream: { circuit: { failures: 1, openSeconds: 5 } } };
    const gateway = await startTestGateway({ upstream: fake, config, clock });
    const { handler } = fake;
    for (const beSlow of [
      () =>
        open(gateway, ANY, { user: 'bob', method: 'POST', headers: ['Transfer-Encoding: chunked'], body: '2\r\n{}' }),
      async () => expect(await download(gateway, { user: 'bob' })).toBe(200),
    ]) {
      fake.handler = (_request, response) => void response.destroy();
      expect((await gateway.call(ANY)).status).toBe(502);
      expect((await gateway.call(ANY)).status).toBe(503);
      fake.handler = handler;
      clock.advance(6);
      await beSlow();
      await expect.poll(() => streams(gateway)).toBeGreaterThan(0);
      expect((await gateway.call(COMMENT)).status).toBe(200);
      for (const client of slow) client.socket.destroy();
      await expect.poll(() => streams(gateway)).toBe(0);
    }
  });
});

describe('addresses', () => {
  it('in one IPv6 network share a limit', async () => {
    const gateway = await start('staging', { streams: { perAddress: 2 } });
    expect(await download(gateway, { from: '2001:db8:1:2::1', user: 'alice' })).toBe(200);
    expect(await download(gateway, { from: '2001:db8:1:2::2', user: 'bob' })).toBe(200);
    expect(await download(gateway, { from: '2001:db8:1:2:3::4', user: 'guest' })).toBe(503);
    expect(await download(gateway, { from: '2001:db8:1:3::1', user: 'moderator' })).toBe(200);
  });
});

describe('documented operations of observe', () => {
  it('a response too large for memory counts as a stream and holds no slot', async () => {
    const gateway = await start('observe', { concurrency: 1, maxResponseBytes: 1024, streams: { perAddress: 2 } });
    const target = `${COMMENT}?big=1`;
    const got = [await download(gateway, {}, target), await download(gateway, {}, target)];
    expect([...got, await download(gateway, {}, target)]).toEqual([200, 200, 200]);
    expect(await streams(gateway)).toBe(3);
    expect((await gateway.call(COMMENT)).status).toBe(200);
    for (const client of slow) client.socket.destroy();
    await expect.poll(() => streams(gateway)).toBe(0);
  });

  it('a request body too large to be checked counts as a stream and holds no slot', async () => {
    const gateway = await start('observe', { concurrency: 1, streams: { perAddress: 2 } });
    const upload = { method: 'POST', headers: ['Content-Length: 900000'], body: 'x'.repeat(4000) };
    for (let count = 0; count < 3; count += 1) await open(gateway, UPLOAD, upload);
    await expect.poll(() => streams(gateway)).toBe(3);
    expect((await gateway.call(COMMENT)).status).toBe(200);
  });
});

describe('a short body', () => {
  it('is read before the upstream is called, whatever the client does next', async () => {
    const gateway = await start('observe');
    const headers = ['Content-Length: 10'];
    const client = await open(gateway, ANY, { method: 'PUT', headers, body: '01234' });
    const left = await open(gateway, ANY, { method: 'PUT', headers, body: 'abcde' });
    await expectOthersServed(gateway);
    left.socket.destroy();
    expect(fake.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
    client.send('56789');
    expect(await client.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 200 /);
    await until(() => fake.requests.length === 3);
    expect(fake.requests[2]).toMatchObject({ method: 'PUT', body: Buffer.from('0123456789') });
  });
});

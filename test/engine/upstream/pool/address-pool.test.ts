import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../../../bench/free-port.ts';
import type { HeaderPairs } from '../../../../src/engine/model/header-pairs.ts';
import type { AddressChange } from '../../../../src/engine/upstream/pool/address-pool.ts';
import { createUpstream, type Upstream } from '../../../../src/engine/upstream/create-upstream.ts';
import { UPSTREAM_DEFAULTS, type UpstreamOptions } from '../../../../src/engine/upstream/upstream-options.ts';
import { cleanUpAfterTest } from '../../../builders/clean-up.ts';
import { drain } from '../../../builders/streamed-body.ts';
import { createTestClock } from '../../../builders/test-clock.ts';
import { reply, type RawRequest, type RawServer, startRawServer } from '../support/raw-server.ts';

const headers: HeaderPairs = [];
const get = { method: 'GET', target: '/a.json', headers, mode: 'buffered' } as const;
const post = { ...get, method: 'POST', body: Buffer.from('{}') } as const;

const ok = (request: RawRequest) => reply(request, 200, 'x');
const reset = ({ socket }: RawRequest) => void socket.resetAndDestroy();
const broken = (request: RawRequest) => reply(request, 500, 'x');

interface Pool {
  readonly upstream: Upstream;
  readonly clock: ReturnType<typeof createTestClock>;
  readonly changes: AddressChange[];
}

/** Creates an upstream with several addresses and closes it after the test. */
function poolOf(
  [first = '', ...alternates]: readonly string[],
  options: Partial<UpstreamOptions> = {},
  observesLimits = false,
): Pool {
  const clock = createTestClock();
  const changes: AddressChange[] = [];
  const all = { ...UPSTREAM_DEFAULTS, circuit: { failures: 1000, openSeconds: 5 }, alternates, ...options };
  const listeners = { onAddress: (change: AddressChange) => void changes.push(change) };
  const upstream = createUpstream({ origin: first, basePath: '' }, all, clock, listeners, observesLimits);
  cleanUpAfterTest(() => upstream.close(0));
  return { upstream, clock, changes };
}

const start = async <T extends readonly ((request: RawRequest) => void)[]>(...handlers: T) =>
  (await Promise.all(handlers.map(startRawServer))) as { [Index in keyof T]: RawServer };
const originsOf = (servers: readonly RawServer[]) => servers.map(({ origin }) => origin);
const countsOf = (servers: readonly RawServer[]) => servers.map(({ requests }) => requests.length);

/** Sends requests one after another and returns their statuses or kinds of failure. */
async function sendAll({ upstream }: Pool, count: number, request: Parameters<Upstream['exchange']>[0] = get) {
  const outcomes: (number | string)[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    const outcome = await upstream.exchange(request).then(
      ({ status }) => status,
      ({ kind }: { kind: string }) => kind,
    );
    outcomes.push(outcome);
    await setImmediate();
  }
  return outcomes;
}

const statesOf = ({ upstream }: Pool) => upstream.health().addresses.map(({ state }) => state);

describe('several addresses', () => {
  it('get the requests in turn, each with its own Host, and writes too', async () => {
    const servers = await start(ok, ok, ok);
    const pool = poolOf(originsOf(servers));
    await sendAll(pool, 6);
    await sendAll(pool, 3, post);
    expect(countsOf(servers)).toEqual([3, 3, 3]);
    for (const { origin, requests } of servers)
      expect(requests[0]?.head.toLowerCase()).toContain(`host: ${new URL(origin).host}`);
  });

  it('get fewer requests while they are slower', async () => {
    const held: RawRequest[] = [];
    const servers = await start((request) => void held.push(request), ok);
    const pool = poolOf(originsOf(servers));
    const slow = Promise.all([pool.upstream.exchange(get), pool.upstream.exchange(get)]);
    const inFlightOf = () => pool.upstream.health().addresses.map(({ inFlight }) => inFlight);
    await expect.poll(() => held.length).toBe(1);
    // Until the faster address has responded, both have one request.
    await expect.poll(inFlightOf).toEqual([1, 0]);
    await sendAll(pool, 5);
    expect(countsOf(servers)).toEqual([1, 6]);
    for (const request of held) ok(request);
    await slow;
    expect(inFlightOf()).toEqual([0, 0]);
  });

  it('are not used for a while after failures in a row, and the others serve all requests', async () => {
    const servers = await start(broken, ok);
    const pool = poolOf(originsOf(servers), { ejection: { failures: 2, seconds: 10, maxSeconds: 15 } });
    expect((await sendAll(pool, 12)).filter((status) => status === 500)).toHaveLength(2);
    expect(countsOf(servers)).toEqual([2, 10]);
    expect(statesOf(pool)).toEqual(['ejected', 'healthy']);
    expect(pool.upstream.health()).toMatchObject({ status: 'degraded', addresses: [{ retrySeconds: 10 }, {}] });
    // The next failure ejects the address for twice as long, up to the limit.
    pool.clock.advance(10);
    await sendAll(pool, 4);
    expect(countsOf(servers)).toEqual([3, 13]);
    pool.clock.advance(14);
    await sendAll(pool, 4);
    expect(countsOf(servers)[0]).toBe(3);
    const [address] = pool.upstream.health().addresses.map((one) => one.address);
    expect(pool.changes).toEqual([
      { address, ejectedSeconds: 10 },
      { address, ejectedSeconds: 15 },
    ]);
  });

  it('are ejected only once, however many requests fail at the same time', async () => {
    const held: RawRequest[] = [];
    const servers = await start((request) => void held.push(request), ok);
    const pool = poolOf(originsOf(servers), { ejection: { failures: 1, seconds: 10, maxSeconds: 120 } });
    const sent = Promise.all(Array.from({ length: 6 }, () => pool.upstream.exchange(get)));
    await expect.poll(() => held.length).toBe(3);
    for (const request of held) broken(request);
    await sent;
    expect(pool.changes.map(({ ejectedSeconds }) => ejectedSeconds)).toEqual([10]);
  });

  it('are used again after a success, and then fail from the beginning', async () => {
    let respond = broken;
    const servers = await start((request) => respond(request), ok);
    const pool = poolOf(originsOf(servers), { ejection: { failures: 2, seconds: 10, maxSeconds: 120 } });
    await sendAll(pool, 6);
    respond = ok;
    pool.clock.advance(10);
    expect(await sendAll(pool, 4)).toEqual([200, 200, 200, 200]);
    expect(pool.upstream.health()).toMatchObject({ status: 'healthy', reasons: [] });
    expect(pool.changes.map(({ ejectedSeconds }) => ejectedSeconds)).toEqual([10, 0]);
    respond = broken;
    await sendAll(pool, 6);
    expect(pool.changes.map(({ ejectedSeconds }) => ejectedSeconds)).toEqual([10, 0, 10]);
  });

  it('are tried with one request at a time after an ejection', async () => {
    const held: RawRequest[] = [];
    let respond = broken;
    const servers = await start((request) => respond(request), ok);
    const pool = poolOf(originsOf(servers), { ejection: { failures: 1, seconds: 10, maxSeconds: 120 } });
    await sendAll(pool, 2);
    respond = (request) => void held.push(request);
    pool.clock.advance(10);
    const sent = Promise.all(Array.from({ length: 8 }, () => pool.upstream.exchange(get)));
    await expect.poll(() => held.length + (servers[1]?.requests.length ?? 0)).toBe(9);
    expect(held).toHaveLength(1);
    for (const request of held) ok(request);
    await sent;
  });

  it('are never all ejected, so that the circuit decides when all fail', async () => {
    const servers = await start(reset, reset);
    const pool = poolOf(originsOf(servers), {
      ejection: { failures: 1, seconds: 10, maxSeconds: 120 },
      circuit: { failures: 4, openSeconds: 5 },
    });
    const outcomes = await sendAll(pool, 6, post);
    expect(outcomes).toEqual(['reset', 'reset', 'reset', 'reset', 'circuit_open', 'circuit_open']);
    expect(statesOf(pool).toSorted()).toEqual(['ejected', 'healthy']);
    expect(pool.upstream.health().status).toBe('failing');
  });

  it('do not lose a safe request if one of them is not listening or breaks the connection', async () => {
    const [sound, breaking] = await start(ok, reset);
    for (const origin of [`http://127.0.0.1:${await freePort()}`, breaking.origin]) {
      const pool = poolOf([origin, sound.origin]);
      expect(await sendAll(pool, 12)).toEqual(Array.from({ length: 12 }, () => 200));
      expect(pool.upstream.stats().retries).toEqual({ succeeded: 3, failed: 0, refused: 0 });
      expect(statesOf(pool)).toEqual(['ejected', 'healthy']);
    }
    expect(countsOf([sound, breaking])).toEqual([24, 3]);
  });

  it('repeat a request at another address, even if that one is busier', async () => {
    const held: RawRequest[] = [];
    const servers = await start((request) => (held.length === 0 ? void held.push(request) : ok(request)), reset);
    const pool = poolOf(originsOf(servers));
    const first = pool.upstream.exchange(get);
    await expect.poll(() => held.length).toBe(1);
    expect(await sendAll(pool, 1)).toEqual([200]);
    expect(countsOf(servers)).toEqual([2, 1]);
    for (const request of held) ok(request);
    await first;
  });

  it('never get a write twice', async () => {
    const servers = await start(reset, reset);
    const pool = poolOf(originsOf(servers));
    expect(await sendAll(pool, 4, post)).toEqual(['reset', 'reset', 'reset', 'reset']);
    expect(servers[0].requests.length + servers[1].requests.length).toBe(4);
  });

  it('repeat requests only within the retry budget', async () => {
    const servers = await start(reset, ok);
    const pool = poolOf(originsOf(servers), {
      retryBudget: { percent: 0, minPerSecond: 0 },
      ejection: { failures: 1000, seconds: 1, maxSeconds: 1 },
    });
    expect(await sendAll(pool, 4)).toEqual(['reset', 200, 'reset', 200]);
    expect(pool.upstream.stats().retries.refused).toBe(2);
  });

  it('change nothing for clients in observe mode: a failure is passed on, and nothing is probed', async () => {
    const servers = await start(reset, ok);
    const options = { ejection: { failures: 1000, seconds: 1, maxSeconds: 1 } };
    const probe = { ...UPSTREAM_DEFAULTS.probe, path: '/probe' };
    const pool = poolOf(originsOf(servers), { ...options, probe }, true);
    pool.upstream.runProbes(true);
    expect(await sendAll(pool, 4)).toEqual(['reset', 200, 'reset', 200]);
    expect(servers.flatMap(({ requests }) => requests.filter(({ head }) => head.includes('/probe')))).toEqual([]);
  });

  it('are not blamed for clients that disconnect', async () => {
    const servers = await start(() => undefined, ok);
    const pool = poolOf(originsOf(servers), { ejection: { failures: 1, seconds: 10, maxSeconds: 120 } });
    for (let turn = 0; turn < 4; turn += 1) {
      const client = new AbortController();
      const left = pool.upstream.exchange({ ...get, signal: client.signal }).catch(() => undefined);
      await setImmediate();
      client.abort();
      await left;
    }
    expect(statesOf(pool)).toEqual(['healthy', 'healthy']);
    await expect.poll(() => pool.upstream.health().addresses.map(({ inFlight }) => inFlight)).toEqual([0, 0]);
  });

  it('are not blamed for a response head that is larger than the limit', async () => {
    const large = ({ socket }: RawRequest) =>
      void socket.write(`HTTP/1.1 200 OK\r\nX-Large: ${'x'.repeat(1_000_000)}\r\nContent-Length: 0\r\n\r\n`);
    const servers = await start(large, ok);
    const pool = poolOf(originsOf(servers), { ejection: { failures: 1, seconds: 10, maxSeconds: 120 } });
    expect(await sendAll(pool, 4)).toEqual(['too_large', 200, 'too_large', 200]);
    expect(statesOf(pool)).toEqual(['healthy', 'healthy']);
  });

  it('are not blamed for clients that disconnect during an upload', async () => {
    const servers = await start(ok, ok);
    const pool = poolOf(originsOf(servers), { ejection: { failures: 1, seconds: 10, maxSeconds: 120 } });
    const owner = () => ({ caller: undefined, isVerified: false, address: '203.0.113.7' });
    const stream = new Readable({ read: () => undefined });
    const request = { ...get, method: 'POST', mode: 'streamed', owner, upload: { stream, length: 1_000_000 } } as const;
    const sent = pool.upstream.exchange(request);
    await expect.poll(() => servers[0].sockets.size + servers[1].sockets.size).toBe(1);
    stream.destroy(new Error('the client has disconnected'));
    await expect(sent).rejects.toMatchObject({ kind: 'aborted' });
    expect(statesOf(pool)).toEqual(['healthy', 'healthy']);
  });

  it('get uploads in turn, and a failed upload counts against its address', async () => {
    const servers = await start(reset, ok);
    const pool = poolOf(originsOf(servers), { ejection: { failures: 1, seconds: 10, maxSeconds: 120 } });
    const owner = { caller: 'alice', isVerified: true, address: '203.0.113.7' };
    const upload = async () => {
      const stream = Readable.from([Buffer.from('abc')]);
      const request = {
        ...get,
        method: 'POST',
        mode: 'streamed' as const,
        owner: () => owner,
        upload: { stream, length: undefined },
      };
      const { status, body } = await pool.upstream.exchange(request);
      if (!Buffer.isBuffer(body)) await drain(body);
      return status;
    };
    const outcomes = [];
    for (let turn = 0; turn < 5; turn += 1) outcomes.push(await upload().catch(({ kind }: { kind: string }) => kind));
    expect(outcomes.filter((outcome) => outcome !== 200)).toEqual(['reset']);
    expect(statesOf(pool)).toEqual(['ejected', 'healthy']);
    await expect.poll(() => pool.upstream.health().addresses.map(({ inFlight }) => inFlight)).toEqual([0, 0]);
  });

  it('count their requests by outcome', async () => {
    const servers = await start(broken, ok);
    const pool = poolOf(originsOf(servers), { ejection: { failures: 2, seconds: 10, maxSeconds: 15 } });
    await sendAll(pool, 6);
    expect(pool.upstream.health().addresses.map(({ requests }) => requests)).toEqual([
      { succeeded: 0, failed: 2 },
      { succeeded: 4, failed: 0 },
    ]);
  });
});

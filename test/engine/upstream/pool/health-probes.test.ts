import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ProbedAddress } from '../../../../src/engine/upstream/pool/address-pool.ts';
import { createConnections } from '../../../../src/engine/upstream/connections.ts';
import { createHealthProbes } from '../../../../src/engine/upstream/pool/health-probes.ts';
import { createUpstream } from '../../../../src/engine/upstream/create-upstream.ts';
import { UPSTREAM_DEFAULTS } from '../../../../src/engine/upstream/upstream-options.ts';
import { cleanUpAfterTest } from '../../../builders/clean-up.ts';
import { createTestClock } from '../../../builders/test-clock.ts';
import { until } from '../../../builders/until.ts';
import { reply, type RawRequest, startRawServer } from '../support/raw-server.ts';

afterEach(() => void vi.useRealTimers());

const probe = { intervalSeconds: 10, timeoutMs: 5000, unhealthyAfter: 2, healthyAfter: 3 };

const status =
  (code: number) =>
  (request: RawRequest): void =>
    reply(request, code, 'x');

/** Creates probes for one server. The test can replace the server's response. */
async function probing(first: (request: RawRequest) => void) {
  const state = { respond: first };
  const server = await startRawServer((request) => state.respond(request));
  const connections = createConnections(server.origin, UPSTREAM_DEFAULTS);
  cleanUpAfterTest(() => connections.destroy());
  const address: ProbedAddress = { host: new URL(server.origin).host, connections, probe: undefined };
  const probes = createHealthProbes(probe, '/qa/health', [address], (probed, result) => {
    probed.probe = result;
  });
  cleanUpAfterTest(() => probes.run(false));
  const round = async () => {
    await probes.round();
    return address.probe;
  };
  return { state, server, probes, round };
}

describe('health probes', () => {
  it('request the path without a credential, each on its own connection', async () => {
    const { server, round } = await probing(status(200));
    expect([await round(), await round()]).toEqual(['passed', 'passed']);
    const [head = ''] = server.requests.map((request) => request.head);
    expect(head).toMatch(/^GET \/qa\/health HTTP\/1\.1\r\n/);
    expect(head).not.toMatch(/authorization/i);
    expect(server.requests.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  it.each([401, 403, 404])('pass with status %i, because the server responds', async (code) => {
    const { round } = await probing(status(code));
    expect(await round()).toBe('passed');
  });

  it.each([
    ['status 500', status(500)],
    ['a lost connection', ({ socket }: RawRequest) => void socket.resetAndDestroy()],
    ['no response in time', () => void vi.advanceTimersByTime(probe.timeoutMs)],
  ])('fail with %s, and the result changes only after enough results in a row', async (_name, failing) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { state, round } = await probing(status(200));
    expect(await round()).toBe('passed');
    state.respond = failing;
    expect(await round()).toBe('passed');
    state.respond = status(200);
    await round();
    state.respond = failing;
    expect([await round(), await round()]).toEqual(['passed', 'failed']);
    state.respond = status(200);
    expect([await round(), await round(), await round()]).toEqual(['failed', 'failed', 'passed']);
  });

  it('are sent at once and then at every interval, until they are stopped', async () => {
    const { server, probes } = await probing(status(200));
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    probes.run(true);
    probes.run(true);
    await until(() => server.requests.length === 1);
    vi.advanceTimersByTime(10_000);
    await until(() => server.requests.length === 2);
    probes.run(false);
    vi.advanceTimersByTime(60_000);
    expect(server.requests).toHaveLength(2);
  });
});

describe('probes of the upstream', () => {
  const options = { ...UPSTREAM_DEFAULTS, probe: { ...probe, unhealthyAfter: 1, healthyAfter: 1, path: '/health' } };

  it('take an address out of use and let it back, whatever its other requests do', async () => {
    let respond = status(200);
    const one = await startRawServer((request) =>
      request.head.includes('/health') ? respond(request) : status(200)(request),
    );
    const other = await startRawServer(status(200));
    const upstream = createUpstream(
      { origin: one.origin, basePath: '' },
      { ...options, alternates: [other.origin] },
      createTestClock(),
    );
    cleanUpAfterTest(() => upstream.close(0));
    const health = () => upstream.health().addresses.map(({ probe: result }) => result);
    const requested = () => one.requests.filter(({ head }) => head.includes('/a.json')).length;
    const send = async () => {
      for (let sent = 0; sent < 4; sent += 1)
        await upstream.exchange({ method: 'GET', target: '/a.json', headers: [], mode: 'buffered' });
    };
    respond = status(503);
    upstream.runProbes(true);
    await expect.poll(health).toEqual(['failed', 'passed']);
    await send();
    expect(requested()).toBe(0);
    respond = status(200);
    upstream.runProbes(false);
    upstream.runProbes(true);
    await expect.poll(health).toEqual(['passed', 'passed']);
    await send();
    expect(requested()).toBe(2);
  });

  it('report the health of a single address, whose requests are sent all the same', async () => {
    const server = await startRawServer((request) => reply(request, request.head.includes('/health') ? 500 : 200, 'x'));
    const upstream = createUpstream({ origin: server.origin, basePath: '' }, options, createTestClock());
    cleanUpAfterTest(() => upstream.close(0));
    upstream.runProbes(true);
    await expect.poll(() => upstream.health().status).toBe('failing');
    const sent = await upstream.exchange({ method: 'GET', target: '/a.json', headers: [], mode: 'buffered' });
    expect(sent.status).toBe(200);
  });

  it('are not sent in observe mode', async () => {
    const server = await startRawServer(status(200));
    const upstream = createUpstream({ origin: server.origin, basePath: '' }, options, createTestClock(), {}, true);
    cleanUpAfterTest(() => upstream.close(0));
    upstream.runProbes(true);
    await upstream.exchange({ method: 'GET', target: '/a.json', headers: [], mode: 'buffered' });
    expect(server.requests.map(({ head }) => head.split(' ')[1])).toEqual(['/a.json']);
  });
});

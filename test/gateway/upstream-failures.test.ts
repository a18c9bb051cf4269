import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../bench/free-port.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { failInvalidNames } from '../builders/invalid-names.ts';
import { startTestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { until } from '../builders/until.ts';
import { selfSigned } from '../engine/upstream/support/self-signed.ts';

const PAGE = '/services/v2/question.json';

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUpAfterFile(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Sends one request through a gateway in front of this upstream and returns the response and its log line. */
async function failing(upstream: string, more: Partial<TestGatewayOptions> = {}) {
  const gateway = await startTestGateway({ upstream, ...more });
  const reply = await gateway.call(PAGE, { headers: { 'X-Request-Id': 'failing-1' } });
  const line = await gateway.lineOf('failing-1');
  await gateway.close();
  return { reply, line, status: reply.headers['proxy-status'] };
}

beforeAll(() => void failInvalidNames());

describe('a failed exchange', () => {
  it('names a host name that cannot be resolved', async () => {
    const { reply, line, status } = await failing('http://no-such-host.invalid');
    expect(reply).toMatchObject({ status: 502, json: { code: 'upstream_refused' } });
    expect(status).toBe('portico; error=dns_error');
    expect(line['upstreamFailure']).toMatchObject({ cause: 'dns_error' });
  });

  it('names a refused connection, also in observe mode', async () => {
    const { line, status } = await failing(`http://127.0.0.1:${await freePort()}`, { real: true });
    expect(status).toBe('portico; error=connection_refused');
    expect(line['upstreamFailure']).toEqual({ cause: 'connection_refused', code: 'ECONNREFUSED' });
  });

  it('names a certificate that is not trusted', async () => {
    const port = await listening(createServer(selfSigned('localhost'), (_, response) => void response.end('{}')));
    const { line, status } = await failing(`https://localhost:${port}`);
    expect(status).toBe('portico; error=tls_certificate_error');
    expect(line['upstreamFailure']).toEqual({ cause: 'tls_certificate_error', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  it('names a connection that the upstream closes', async () => {
    const port = await listening(createTcpServer((socket) => socket.on('data', () => socket.destroy())));
    const { reply, line, status } = await failing(`http://127.0.0.1:${port}`);
    expect(reply).toMatchObject({ status: 502, json: { code: 'upstream_reset' } });
    expect(status).toBe('portico; error=connection_terminated');
    expect(line['upstreamFailure']).toMatchObject({ cause: 'connection_terminated' });
  });

  it('names a response that does not arrive in time', async () => {
    const silent = await startFakeUpstream(() => new Promise(() => undefined));
    const { reply, line, status } = await failing(silent.url, { config: { upstream: { totalTimeoutMs: 200 } } });
    expect(reply.status).toBe(504);
    expect(status).toBe('portico; error=http_response_timeout');
    expect(line['upstreamFailure']).toEqual({ cause: 'http_response_timeout' });
  });

  it('names a response that is not HTTP', async () => {
    const port = await listening(createTcpServer((socket) => socket.on('data', () => socket.end('SSH-2.0-x\r\n\r\n'))));
    const { status } = await failing(`http://127.0.0.1:${port}`);
    expect(status).toBe('portico; error=http_protocol_error');
  });
});

describe('a response that breaks after its head', () => {
  it('is logged with the cause, although its status was sent', async () => {
    const port = await listening(
      createTcpServer((socket) =>
        socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\nhalf')),
      ),
    );
    const gateway = await startTestGateway({ upstream: `http://127.0.0.1:${port}`, real: true });
    const headers = { 'X-Request-Id': 'broken-1' };
    await gateway.call('/services/v2/unknown.json', { headers }).catch(() => undefined);
    expect(await gateway.lineOf('broken-1')).toMatchObject({
      upstream: { shape: 'truncated' },
      upstreamFailure: { cause: 'http_response_incomplete' },
    });
  });
});

describe('the header Proxy-Status', () => {
  it('contains the status of a response that is not forwarded', async () => {
    const broken = await startFakeUpstream(() => ({ status: 500, json: { error: 'oops' } }));
    const { reply, status } = await failing(broken.url, { config: { errors: 'normalized' } });
    expect(reply).toMatchObject({ status: 502, json: { code: 'upstream_error' } });
    expect(status).toBe('portico; received-status=500');
  });

  it('contains the status of a response that violates the contract', async () => {
    const odd = await startFakeUpstream(() => ({ json: { list: 'none' } }));
    const { reply, status } = await failing(odd.url, { config: { checks: { responses: 'enforce' } } });
    expect(reply).toMatchObject({ status: 502, json: { code: 'upstream_invalid_response' } });
    expect(status).toBe('portico; received-status=200');
  });

  it("is absent from forwarded responses and from the gateway's own refusals", async () => {
    const broken = await startFakeUpstream(() => ({ status: 500, json: { error: 'oops' } }));
    const { reply, status } = await failing(broken.url, { real: true });
    expect([reply.status, status]).toEqual([500, undefined]);
    const strict = await startTestGateway({ upstream: broken });
    const refused = await strict.call(`${PAGE}?page=x`);
    expect([refused.status, refused.headers['proxy-status']]).toEqual([400, undefined]);
  });

  it('can be turned off', async () => {
    const { reply, status } = await failing('http://no-such-host.invalid', { config: { proxyStatusHeader: false } });
    expect([reply.status, status]).toEqual([502, undefined]);
  });
});

describe('the circuit', () => {
  it('is logged when it opens, with the cause, and when it closes', async () => {
    const clock = createTestClock();
    const upstream = await startFakeUpstream((_, response) => void response.destroy());
    const config = { upstream: { circuit: { failures: 2, openSeconds: 5 } }, checks: { responses: 'report' } };
    const gateway = await startTestGateway({ upstream, config, clock });
    const entries = () =>
      gateway.log.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ circuit }) => circuit);
    for (let times = 0; times < 3; times += 1) await gateway.call(PAGE);
    expect(entries()).toMatchObject([
      { level: 'warn', circuit: 'open', cause: 'connection_terminated', trialAfterSeconds: 5 },
    ]);
    upstream.handler = () => ({ json: {} });
    clock.advance(6);
    await gateway.call(PAGE);
    await until(() => entries().length > 1);
    expect(entries().slice(1)).toMatchObject([{ level: 'info', circuit: 'closed', openForSeconds: 6 }]);
  });

  it('makes Proxy-Status say that the upstream is unavailable', async () => {
    const upstream = await startFakeUpstream((_, response) => void response.destroy());
    const gateway = await startTestGateway({ upstream, config: { upstream: { circuit: { failures: 1 } } } });
    await gateway.call(PAGE);
    const { status, headers } = await gateway.call(PAGE);
    expect([status, headers['proxy-status']]).toEqual([503, 'portico; error=destination_unavailable']);
  });
});

describe('a page that always fails', () => {
  /** Starts a gateway in front of an upstream that breaks every exchange for the `?sort=broken` page. */
  async function startBroken(
    config: TestGatewayOptions['config'],
    breaks = (query: URLSearchParams) => query.has('sort'),
  ) {
    const clock = createTestClock();
    const state = { breaks };
    const upstream = await startFakeUpstream(async (request, response) => {
      if (!state.breaks(request.query)) return exampleResponse(request);
      response.destroy();
      return undefined;
    });
    const gateway = await startTestGateway({ upstream, clock, ...(config && { config }) });
    const ask = async (target: string, user = 'bob') => {
      const { status, json } = await gateway.call(target, { user });
      return json.code ?? status;
    };
    return { gateway, upstream, clock, state, ask };
  }
  const BROKEN = `${PAGE}?sort=broken`;

  it('is refused for a while with Retry-After, and other pages are still fetched', async () => {
    const { gateway, upstream, clock, state, ask } = await startBroken({});
    for (let turn = 0; turn < 3; turn += 1) expect(await ask(BROKEN)).toBe('upstream_reset');
    const refused = await gateway.call(BROKEN, { user: 'bob' });
    expect(refused).toMatchObject({ status: 503, json: { code: 'upstream_page_failing' } });
    expect(refused.headers['retry-after']).toBe('5');
    expect(refused.headers).not.toHaveProperty('proxy-status');
    expect(upstream.requests).toHaveLength(3);
    expect(await ask(PAGE)).toBe(200);
    expect(await gateway.metric('portico_errors_total{code="upstream_page_failing"}')).toBe(1);
    clock.advance(5);
    state.breaks = () => false;
    expect(await ask(BROKEN)).toBe(200);
  });

  it('is served from the cache as long as a stale response is allowed', async () => {
    const { upstream, clock, state, ask } = await startBroken({}, () => false);
    expect(await ask(PAGE)).toBe(200);
    clock.advance(100);
    state.breaks = () => true;
    for (let turn = 0; turn < 5; turn += 1) expect(await ask(PAGE)).toBe(200);
    // One fetch, three failures and one retry: the first failed request was retried because its connection had been
    // reused.
    expect(upstream.requests).toHaveLength(5);
    clock.advance(300);
    expect(await ask(PAGE)).toBe('upstream_reset');
  });

  // If the failures of one broken page opened the circuit, all other pages would become unavailable. While the other
  // pages come from the cache, successes are too rare to reset the failure count in time.
  it('does not open the circuit for the others, whoever requests it and however often', async () => {
    const { ask, gateway } = await startBroken({
      upstream: { circuit: { failures: 4 } },
      cache: { failures: { after: 0 } },
    });
    for (const user of ['bob', 'alice', 'admin'])
      for (let turn = 0; turn < 4; turn += 1) expect(await ask(BROKEN, user)).toBe('upstream_reset');
    expect((await gateway.admin('/upstreamz')).status).toBe(200);
    expect(await ask(PAGE)).toBe(200);
  });

  it('counts toward the circuit together with other pages that fail', async () => {
    const { ask } = await startBroken({ upstream: { circuit: { failures: 4 } } }, () => true);
    for (const sort of ['a', 'b', 'c', 'd']) expect(await ask(`${PAGE}?sort=${sort}`)).toBe('upstream_reset');
    expect(await ask(PAGE)).toBe('upstream_circuit_open');
  });
});

describe('the line of a violation', () => {
  it('contains the fingerprint under which the ledger stores it, and the span id that was sent to the upstream', async () => {
    let traceparent = '';
    const upstream = await startFakeUpstream(({ headers }) => {
      traceparent = String(headers['traceparent']);
      return { json: { list: 'none' } };
    });
    const gateway = await startTestGateway({ upstream, config: { cache: { enabled: false } } });
    const { headers } = await gateway.call(PAGE, { headers: { 'X-Request-Id': 'violating-1' } });
    const line = await gateway.lineOf('violating-1');
    const { entries } = await gateway.gateway.services.records.snapshot();
    expect(entries.map(({ fingerprint }) => fingerprint)).toEqual(
      expect.arrayContaining(line['fingerprints'] as string[]),
    );
    expect(headers['contract-status']).toContain(String((line['fingerprints'] as string[])[0]));
    expect(traceparent.split('-')).toEqual(['00', line['traceId'], line['spanId'], '00']);
  });
});

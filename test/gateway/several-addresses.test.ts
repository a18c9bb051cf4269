import { describe, expect, it } from 'vitest';
import { freePort } from '../../bench/free-port.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';

const PAGE = '/services/v2/question.json';

const hostOf = ({ url }: FakeUpstream) => new URL(url).host;

/** Starts a gateway in front of two addresses of a real upstream. The test can replace the first address. */
async function startPair(config: Readonly<Record<string, unknown>> = {}, upstreamConfig = {}, firstUrl?: string) {
  const first = await startFakeUpstream(exampleResponse, '/qa');
  const second = await startFakeUpstream(exampleResponse, '/qa');
  const allow = [{ method: '*', path: '/services/v2/**' }];
  const gateway = await startTestGateway({
    upstream: firstUrl ?? first,
    real: true,
    config: {
      mode: 'staging',
      authentication: { verifier: 'file' },
      cache: { enabled: false },
      undocumented: { allow },
      ...config,
      upstream: { alternates: [second.url], ...upstreamConfig },
    },
    keepAccounts: true,
  });
  return { first, second, gateway };
}

describe('a gateway with one upstream address', () => {
  it('counts its requests, and shows them everywhere that those of several addresses are shown', async () => {
    const upstream = await startFakeUpstream((request) =>
      request.target.includes('sort=broken') ? { status: 500, text: 'failed' } : exampleResponse(request),
    );
    const gateway = await startTestGateway({ upstream, config: { cache: { enabled: false } } });
    for (const sort of ['newest', 'broken', 'votes']) await gateway.call(`${PAGE}?sort=${sort}`);
    const shown = [{ address: hostOf(upstream), requests: { succeeded: 2, failed: 1 } }];
    expect((await gateway.admin('/upstreamz')).json).toMatchObject({ addresses: shown });
    expect((await gateway.admin('/console/api/upstream')).json).toMatchObject({ health: { addresses: shown } });
    const counted = (outcome: string) =>
      gateway.metric(`portico_upstream_address_requests_total{address="${hostOf(upstream)}",outcome="${outcome}"}`);
    expect([await counted('succeeded'), await counted('failed')]).toEqual([2, 1]);
  });
});

describe('a gateway with several upstream addresses', () => {
  it('serves every page while one of them is down, and shows it', async () => {
    const down = `127.0.0.1:${await freePort()}`;
    const { second, gateway } = await startPair({}, {}, `http://${down}/qa`);
    for (let page = 1; page <= 12; page += 1)
      expect((await gateway.call(`${PAGE}?sort=s${page}`, { user: 'bob' })).status).toBe(200);
    expect(second.requests).toHaveLength(12);
    const health = await gateway.admin('/upstreamz');
    expect(health).toMatchObject({
      status: 200,
      json: {
        status: 'degraded',
        reasons: [`${down} is ejected`],
        addresses: [
          { address: down, state: 'ejected' },
          { address: hostOf(second), state: 'healthy', requests: { succeeded: 12, failed: 0 } },
        ],
      },
    });
    expect(health.text).not.toContain('http://');
    const metric = (name: string, labels: string) => gateway.metric(`portico_upstream_${name}{${labels}}`);
    expect(await metric('address_healthy', `address="${down}"`)).toBe(0);
    expect(await metric('address_healthy', `address="${hostOf(second)}"`)).toBe(1);
    expect(await metric('address_requests_total', `address="${down}",outcome="failed"`)).toBe(3);
    expect(await metric('retries_total', 'outcome="succeeded"')).toBe(3);
    expect(gateway.log.some((line) => line.includes(down) && line.includes('"ejectedSeconds":10'))).toBe(true);
    const view = await gateway.admin('/console/api/upstream');
    expect(view).toMatchObject({ status: 200, json: { health: { status: 'degraded' } } });
  });

  it('rewrites the addresses of all of them in bodies and in Location', async () => {
    const { first, second, gateway } = await startPair({ rewriteUrls: true });
    const urls = [first, second].map(({ url }) => `${url}/a`);
    for (const upstream of [first, second])
      upstream.handler = () => ({ json: { urls }, headers: { Location: `${second.url}/b` } });
    const { json, headers } = await gateway.call('/services/v2/extra.json', { user: 'bob' });
    expect(json).toEqual({ urls: [`${gateway.url}/a`, `${gateway.url}/a`] });
    expect(headers['location']).toMatch(/^(?:http:\/\/127\.0\.0\.1:\d+)?\/b$/);
    expect(headers['location']).not.toContain(hostOf(second));
  });

  it('probes them, and does not count a probe as a request of a client', async () => {
    const { first, second, gateway } = await startPair({}, { probe: { path: '/health' } });
    await until(() => first.requests.length > 0 && second.requests.length > 0);
    expect([first, second].map(({ requests }) => requests[0]?.target)).toEqual(['/qa/health', '/qa/health']);
    expect(first.requests[0]?.headers.authorization).toBeUndefined();
    await expect.poll(async () => (await gateway.admin('/upstreamz')).text).toContain('"probe":"passed"');
    expect((await gateway.admin('/upstreamz')).json).toMatchObject({
      addresses: [{ requests: { succeeded: 0, failed: 0 } }, { requests: { succeeded: 0, failed: 0 } }],
    });
    await gateway.close();
  });

  it('sends no probe in observe mode', async () => {
    const { first, second, gateway } = await startPair(
      { mode: 'observe', cache: {}, authentication: {} },
      { probe: { path: '/health' } },
    );
    for (let turn = 0; turn < 4; turn += 1) expect((await gateway.call(PAGE, { user: 'bob' })).status).toBe(200);
    expect([...first.requests, ...second.requests].map(({ path }) => path)).toEqual(
      Array.from({ length: 4 }, () => `/qa${PAGE}`),
    );
  });
});

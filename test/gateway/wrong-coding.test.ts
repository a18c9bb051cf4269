import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeResponse, type FakeRequest, startFakeUpstream } from '../builders/fake-upstream.ts';
import { knowing } from '../builders/knowing-upstream.ts';
import { startTestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';

const LIST = '/services/v2/question.json';
const OTHER = '/services/v2/idea.json';
const JSON_AS = (coding: string) => ({ 'Content-Type': 'application/json', 'Content-Encoding': coding });

const bytesOf = ({ json }: FakeResponse) => Buffer.from(JSON.stringify(json));
const codingOf = ({ headers }: FakeRequest) => headers['accept-encoding'];

/** Labels every response for clients that accept a coding as compressed, without compressing it. */
const labels = (request: FakeRequest): FakeResponse => {
  const response = exampleResponse(request);
  if (codingOf(request) === 'identity') return response;
  return { status: response.status ?? 200, headers: JSON_AS('gzip'), body: bytesOf(response) };
};

async function start(respond = labels, options: Partial<TestGatewayOptions> = {}) {
  const upstream = await startFakeUpstream(knowing(respond));
  const gateway = await startTestGateway({ upstream, ...options });
  return { gateway, upstream };
}

const UNCACHED = { cache: { enabled: false } };

const reported = async (gateway: Awaited<ReturnType<typeof start>>['gateway'], operation: string) =>
  gateway.metric(
    `portico_contract_violations_total{operation="${operation}",direction="response",category="coding",accepted="false"}`,
  );

describe('a response with a wrong content coding', () => {
  it('is requested once more without a coding, is stored, and is remembered for its operation', async () => {
    const { gateway, upstream } = await start();
    const response = await gateway.call(LIST);
    expect([response.status, response.headers['content-encoding'], response.headers['cache-status']]).toEqual([
      200,
      undefined,
      'portico; fwd=miss; stored',
    ]);
    expect(response.headers['contract-status']).toMatch(/^violations; count=1; worst=coding; report=/);
    expect(response.json).toEqual(JSON.parse(bytesOf(exampleResponse({ method: 'GET', path: LIST })).toString()));
    await gateway.call(`${LIST}?q=other`);
    await gateway.call(OTHER);
    expect(upstream.requests.map((request) => [request.path, codingOf(request) === 'identity'])).toEqual([
      [LIST, false],
      [LIST, true],
      [LIST, true],
      [OTHER, false],
      [OTHER, true],
    ]);
    expect([await reported(gateway, 'listQuestions'), await reported(gateway, 'listIdeas')]).toEqual([1, 1]);
  });

  it('is asked for with a coding again after an hour', async () => {
    let now = Date.now();
    const { gateway, upstream } = await start(labels, { clock: () => now, config: UNCACHED });
    await gateway.call(LIST);
    now += 3_599_000;
    await gateway.call(LIST);
    now += 2_000;
    await gateway.call(LIST);
    expect(upstream.requests.map((request) => codingOf(request) === 'identity')).toEqual([
      false,
      true,
      true,
      false,
      true,
    ]);
  });

  it.each(['gzip', 'compress'])(
    'is forwarded with its label %s if asking again does not help, and opens no circuit',
    async (coding) => {
      const always = (request: FakeRequest) => ({ headers: JSON_AS(coding), body: bytesOf(exampleResponse(request)) });
      const config = { upstream: { circuit: { failures: 1 } } };
      const { gateway, upstream } = await start(always, { config });
      for (let count = 0; count < 4; count += 1) {
        const response = await gateway.call(`${LIST}?q=word${count}`);
        expect([response.status, response.headers['content-encoding'], response.headers['cache-status']]).toEqual([
          200,
          coding,
          'portico; fwd=miss; detail=content-coding',
        ]);
        expect(response.bytes).toEqual(bytesOf(exampleResponse({ method: 'GET', path: LIST })));
      }
      expect(upstream.requests).toHaveLength(5);
      expect(await reported(gateway, 'listQuestions')).toBe(4);
    },
  );

  it('is forwarded as it came if the repeated request fails', async () => {
    const { gateway } = await start((request) =>
      codingOf(request) === 'identity' ? { status: 500, json: {} } : labels(request),
    );
    const response = await gateway.call(LIST);
    expect([response.status, response.headers['content-encoding']]).toEqual([200, 'gzip']);
  });

  // The write has been carried out, so it must neither be repeated nor be reported as failed.
  it('to a write is forwarded as it came, and the write is never repeated', async () => {
    const { gateway, upstream } = await start();
    const favor = () => gateway.call('/services/v2/node/5/unmarkfavorite.json', { method: 'PUT' });
    const response = await favor();
    expect([response.status, response.headers['content-encoding']]).toEqual([200, 'gzip']);
    expect(upstream.requests).toHaveLength(1);
    expect((await favor()).headers['content-encoding']).toBeUndefined();
    expect(upstream.requests).toHaveLength(2);
  });

  it('remains a broken exchange if the body is incomplete', async () => {
    const { gateway, upstream } = await start((request) => ({
      headers: JSON_AS('gzip'),
      body: gzipSync(bytesOf(exampleResponse(request))).subarray(0, -5),
    }));
    expect((await gateway.call(LIST)).json).toMatchObject({ code: 'upstream_reset' });
    expect(upstream.requests).toHaveLength(1);
  });

  it('is forwarded unchanged in observe mode, and counted as what it is', async () => {
    const { gateway, upstream } = await start(labels, { real: true });
    const response = await gateway.call(LIST, { headers: { 'Accept-Encoding': 'gzip' } });
    expect([response.status, response.headers['content-encoding']]).toEqual([200, 'gzip']);
    expect(response.bytes).toEqual(bytesOf(exampleResponse({ method: 'GET', path: LIST })));
    expect(upstream.requests).toHaveLength(1);
    expect(response.headers['contract-status']).toMatch(/^violations; count=1; worst=coding; .*skipped=coding/);
    expect(await gateway.metric('portico_upstream_failures_total{kind="truncated"}')).toBe(0);
  });
});

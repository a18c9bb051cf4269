import { Agent, request } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeResponse, type FakeRequest, startFakeUpstream } from '../builders/fake-upstream.ts';
import { knowing } from '../builders/knowing-upstream.ts';
import { startTestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';

const LIST = '/services/v2/question.json';
const ODD = '/services/v2/odd.json';
const PASSED = { undocumented: { allow: [{ method: '*', path: '/services/v2/**' }] } };

const responding = (headers: FakeResponse['headers']) => (asked: FakeRequest) => {
  const response = asked.path === ODD ? { status: 200, json: {} } : exampleResponse(asked);
  return { ...response, headers: { 'Content-Type': 'application/json', ...headers } };
};

async function start(headers: FakeResponse['headers'], options: Partial<TestGatewayOptions> = {}) {
  const upstream = await startFakeUpstream(knowing(responding(headers)));
  return startTestGateway({ upstream, ...options });
}

describe('a listed response header', () => {
  const headers = { 'X-Total-Count': '12', 'X-Rate-Left': '3', 'X-Internal': 'a', Server: 'old' };
  const config = { upstream: { responseHeaders: ['X-Total-Count', 'x-rate-left'] } };

  it.each([
    ['stored', LIST],
    ['unstored', '/services/v2/node/5/comment.json'],
  ])('reaches clients of %s responses, and no other does', async (_kind, target) => {
    const gateway = await start(headers, { config });
    const seen = [await gateway.call(target), await gateway.call(target)];
    for (const response of seen) {
      expect(response.headers).toMatchObject({ 'x-total-count': '12', 'x-rate-left': '3' });
      expect(response.headers).not.toHaveProperty('x-internal');
      expect(response.headers).not.toHaveProperty('server');
    }
  });

  it('is part of what a stored page means', async () => {
    const gateway = await start(headers, { config });
    expect((await gateway.call(LIST)).headers['cache-status']).toContain('stored');
    await gateway.reload({ config: { upstream: { responseHeaders: ['X-Internal'] } } });
    const { headers: after } = await gateway.call(LIST);
    expect([after['cache-status'], after['x-internal'], after['x-total-count']]).toEqual([
      'portico; fwd=miss; stored',
      'a',
      undefined,
    ]);
  });

  it('cannot be one that Portico itself decides about', async () => {
    const wrong = { config: { upstream: { responseHeaders: ['Link', 'set-cookie'] } } };
    await expect(start({}, wrong)).rejects.toThrow(/responseHeaders\/1.*set-cookie cannot be listed/s);
  });
});

describe('a response header that is not listed', () => {
  it('is forwarded by observe, which reports by name that other modes would not', async () => {
    const gateway = await start({ 'X-Quota': '5', Server: 'old', ETag: '"a"' }, { real: true });
    const response = await gateway.call(LIST);
    expect(response.headers).toMatchObject({ 'x-quota': '5', server: 'old', etag: '"a"' });
    expect(response.headers['contract-status']).toMatch(/^violations; count=1; worst=advisory/);
    const { entries } = await gateway.gateway.services.records.snapshot();
    expect(entries.map(({ at, keyword, category }) => [at, keyword, category])).toEqual([
      ['x-quota', 'header-dropped', 'advisory'],
    ]);
    expect(await gateway.metric('portico_dropped_header_answers_total{operation="listQuestions"}')).toBe(1);
  });

  it('is counted in the other modes', async () => {
    const gateway = await start({ 'X-Quota': '5' });
    expect((await gateway.call(LIST)).headers['contract-status']).toBe('conforming');
    await gateway.call(LIST);
    expect(await gateway.metric('portico_dropped_header_answers_total{operation="listQuestions"}')).toBe(1);
  });
});

describe('a response with large headers', () => {
  const client = new Agent({ maxHeaderSize: 1 << 24 });
  afterAll(() => client.close());
  const ask = async (url: string, path: string, method: 'GET' | 'POST') => {
    const response = await request(url + path, {
      method,
      dispatcher: client,
      headers: { authorization: basic('admin') },
      ...(method === 'POST' ? { body: 'x' } : {}),
    });
    return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
  };
  const WAYS = [
    [LIST, 'GET'],
    [ODD, 'GET'],
    [ODD, 'POST'],
  ] as const;

  it.each(WAYS)('of %s (%s) passes within the limit, which is 64 KiB by default', async (path, method) => {
    const gateway = await start({ Link: 'x'.repeat(60_000) }, { config: PASSED });
    const response = await ask(gateway.url, path, method);
    expect([response.status, response.headers['link']?.length]).toEqual([200, 60_000]);
  });

  it.each(WAYS)('of %s (%s) is refused beyond the limit, and the error names it', async (path, method) => {
    const gateway = await start(
      { Link: 'x'.repeat(5000) },
      { config: { ...PASSED, upstream: { maxResponseHeaderBytes: 4096 } } },
    );
    const { status, text } = await ask(gateway.url, path, method);
    expect([status, JSON.parse(text)]).toMatchObject([
      502,
      {
        code: 'upstream_response_too_large',
        error: 'The headers of the upstream response are larger than upstream.maxResponseHeaderBytes allows.',
      },
    ]);
    expect(await gateway.metric('portico_upstream_failures_total{kind="too_large"}')).toBe(1);
  });

  it.each(WAYS)('of %s (%s) always passes in observe mode', async (path, method) => {
    const many = Object.fromEntries(Array.from({ length: 1900 }, (_, index) => [`X-Odd-${index}`, 'x'.repeat(100)]));
    const gateway = await start(many, { real: true, config: { upstream: { maxResponseHeaderBytes: 4096 } } });
    const { status, headers } = await ask(gateway.url, path, method);
    expect([status, Object.keys(headers).filter((name) => name.startsWith('x-odd-')).length]).toEqual([200, 1900]);
  });
});

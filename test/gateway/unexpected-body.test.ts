import { describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { expectError } from '../builders/expect-error.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { EXAMPLE_IDS, OPERATIONS } from '../builders/operations.ts';
import { startTestGateway } from '../builders/test-gateway.ts';

const LIST = '/services/v2/question.json';
const WITHOUT_BODY = OPERATIONS.filter(({ body }) => body === undefined);

async function start(config: Record<string, unknown>) {
  const upstream = await startFakeUpstream(exampleResponse);
  return { upstream, gateway: await startTestGateway({ upstream, config }) };
}

describe('a body for an operation that takes none', () => {
  it.each(['staging', 'strict'])('is refused in %s with a message that says so, for every operation', async (mode) => {
    const { gateway, upstream } = await start({ mode });
    for (const { method, target, allowed: user } of WITHOUT_BODY)
      for (const body of ['{"a":1}', '{}', 'a=b']) {
        const refused = await gateway.call(target(EXAMPLE_IDS), { method, user, body });
        expectError(refused, 400, 'invalid_body');
        expect(refused.json).toMatchObject({ error: 'This operation takes no body; send the request without one.' });
      }
    const chunked = {
      method: 'PUT',
      headers: { Authorization: basic('admin') },
      body: new Blob(['{}']).stream(),
      duplex: 'half',
    };
    const { status } = await fetch(`${gateway.url}/services/v2/node/118/cancelwiki.json`, chunked);
    expect(status).toBe(400);
    expect(upstream.requests).toEqual([]);
  });

  it('is foretold by observe, which forwards it unchanged', async () => {
    const { gateway, upstream } = await start({ mode: 'observe' });
    for (const { id, method, target, allowed: user } of WITHOUT_BODY) {
      const path = target(EXAMPLE_IDS);
      const requestId = `body-${id}`;
      const headers = { 'X-Request-Id': requestId, 'Content-Type': 'text/plain' };
      await gateway.call(path, { method, user, body: 'a=b', headers });
      expect(upstream.requests.at(-1)).toMatchObject({ method, target: path, body: Buffer.from('a=b') });
      expect(await gateway.lineOf(requestId)).toMatchObject({ checks: { requests: 'reported' } });
    }
    const long = 'x'.repeat(3_000_000);
    await gateway.call(LIST, { user: 'alice', body: long, headers: { 'X-Request-Id': 'body-long' } });
    expect(upstream.requests.at(-1)?.body).toHaveLength(long.length);
    expect(await gateway.lineOf('body-long')).toMatchObject({ checks: { requests: 'reported' } });
  });

  it('is reported in the ledger', async () => {
    const { gateway } = await start({ mode: 'observe' });
    await gateway.call('/services/v2/node/118/cancelwiki.json', { method: 'PUT', user: 'admin', body: '{}' });
    const { entries } = await gateway.gateway.services.records.snapshot({ since: 0 });
    expect(entries).toContainEqual(
      expect.objectContaining({ operation: 'cancelWiki', location: 'body', keyword: 'no-body' }),
    );
  });

  it.each(['report', 'off'])('is forwarded at the level %s, never dropped', async (requests) => {
    const { gateway, upstream } = await start({ mode: 'staging', checks: { requests } });
    for (const { method, target, allowed: user } of WITHOUT_BODY) {
      const path = target(EXAMPLE_IDS);
      await gateway.call(path, { method, user, body: '{"a":1}' });
      expect(upstream.requests.at(-1)).toMatchObject({ method, target: path, body: Buffer.from('{"a":1}') });
    }
  });

  // The attack: a body makes the upstream return a different response, which is then stored for requests without one.
  it('does not change what other requests get from the cache', async () => {
    const { gateway, upstream } = await start({ mode: 'staging', checks: { requests: 'report' } });
    const ask = async (body?: string, type = 'application/json') => {
      const headers = { 'Content-Type': type };
      return (await gateway.call(LIST, { user: 'alice', headers, body })).headers['cache-status'];
    };
    expect(await ask('{"a":1}')).toMatch(/fwd=miss; stored/);
    expect(await ask()).toMatch(/fwd=miss/);
    expect(await ask('{"a":2}')).toMatch(/fwd=miss/);
    expect(await ask('{"a":1}')).toMatch(/hit/);
    expect(await ask('{"a":1}', 'text/plain')).toMatch(/fwd=miss/);
    expect(upstream.requests.map(({ headers }) => headers['content-type'])).toEqual([
      ...Array<string>(3).fill('application/json'),
      'text/plain',
    ]);
  });

  it.each(['observe', 'staging', 'strict'])('may have length 0 in %s', async (mode) => {
    const { gateway, upstream } = await start({ mode });
    for (const headers of [{ 'Content-Length': '0' }, { 'Transfer-Encoding': 'chunked' }]) {
      const put = { method: 'PUT', user: 'admin', headers };
      expect((await gateway.call('/services/v2/node/118/cancelwiki.json', put)).status).toBe(200);
    }
    expect((await gateway.gateway.services.records.snapshot({ since: 0 })).entries).toEqual([]);
    expect(upstream.requests.map(({ body }) => body.length)).toEqual([0, 0]);
  });

  it('is forwarded on undocumented paths', async () => {
    const allow = [{ method: '*', path: '/services/v2/other.json' }];
    const { gateway, upstream } = await start({ undocumented: { allow } });
    for (const method of ['GET', 'DELETE', 'PUT']) {
      await gateway.call('/services/v2/other.json', { method, body: 'a=b' });
      expect(upstream.requests.at(-1)).toMatchObject({ method, body: Buffer.from('a=b') });
    }
  });
});

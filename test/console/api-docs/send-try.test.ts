import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readTryRequest, sendTry } from '../../../src/console/api-docs/send-try.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';

interface Asked {
  readonly origin: string;
  readonly method: string;
  readonly target: string;
  readonly body?: string;
}

const file = join(import.meta.dirname, '../../../src/console/public/reference/curl.js');
const { curlLine } = (await import(pathToFileURL(file).href)) as { curlLine: (asked: Asked) => string };

describe('trying a request', () => {
  const asked = { method: 'GET', target: '/services/v2/a.json', headers: {}, body: undefined };

  async function fake(...[handler]: Parameters<typeof startFakeUpstream>) {
    const server = await startFakeUpstream(handler);
    const { hostname: host, port } = new URL(server.url);
    return { requests: server.requests, address: { host, port: Number(port) } };
  }

  it('sends it unchanged below the base path and returns the response', async () => {
    const { address, requests } = await fake(() => ({ status: 201, headers: { 'X-A': ['1', '2'] }, body: 'stored' }));
    const answer = await sendTry(address, '/qa', {
      ...asked,
      method: 'POST',
      headers: { Accept: 'text/plain' },
      body: 'é',
    });
    expect(answer).toMatchObject({ status: 201, statusText: 'Created', body: 'stored', bytes: 6, cut: false });
    expect(answer.headers.filter(([name]) => name === 'X-A')).toEqual([
      ['X-A', '1'],
      ['X-A', '2'],
    ]);
    expect(answer.seconds).toBeGreaterThan(0);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      target: '/qa/services/v2/a.json',
      headers: { accept: 'text/plain' },
    });
    expect(requests[0]?.body.toString()).toBe('é');
  });

  it('does not follow redirects', async () => {
    const { address, requests } = await fake(() => ({ status: 302, headers: { Location: 'http://192.0.2.1/' } }));
    expect(await sendTry(address, '', asked)).toMatchObject({ status: 302 });
    expect(requests).toHaveLength(1);
  });

  it('returns the beginning of a long response and reports that it was cut', async () => {
    const { address } = await fake(() => ({ body: 'a'.repeat(600_000) }));
    const answer = await sendTry(address, '', asked);
    expect([answer.cut, answer.broken, answer.body.length, answer.bytes]).toEqual([true, false, 524_288, 524_288]);
  });

  it('reports a connection that broke in the middle', async () => {
    const { address } = await fake((_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half', () => response.destroy());
      return undefined;
    });
    expect(await sendTry(address, '', asked)).toMatchObject({
      status: 200,
      body: 'half',
      bytes: 4,
      cut: false,
      broken: true,
    });
  });

  it('decodes text in its own character set', async () => {
    const headers = { 'Content-Type': 'text/html; charset=ISO-8859-1' };
    const { address } = await fake(() => ({ headers, body: Buffer.from('<p>Grüße</p>', 'latin1') }));
    expect(await sendTry(address, '', asked)).toMatchObject({ text: true, body: '<p>Grüße</p>', bytes: 12 });
  });

  it('omits an incomplete character at the cut', async () => {
    const { address } = await fake(() => ({ body: `a${'é'.repeat(300_000)}` }));
    const answer = await sendTry(address, '', asked);
    expect([answer.text, answer.cut, answer.body.length]).toEqual([true, true, 262_144]);
  });

  it.each([
    ['an image', { 'Content-Type': 'image/png' }, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff])],
    ['bytes with zeros', { 'Content-Type': 'text/plain' }, Buffer.from('a\0b')],
    ['compressed data', { 'Content-Encoding': 'gzip' }, Buffer.from('not looked at')],
    ['an unknown character set', { 'Content-Type': 'text/plain; charset=x-none' }, Buffer.from('a')],
  ])('does not show binary data as text: %s', async (_, headers, body) => {
    const { address } = await fake(() => ({ headers, body }));
    expect(await sendTry(address, '', asked)).toMatchObject({ text: false, body: '', bytes: body.length });
  });

  it('fails if nothing responds', async () => {
    await expect(sendTry({ host: '127.0.0.1', port: 1 }, '', asked)).rejects.toThrow();
  });
});

describe('requests from the form', () => {
  const form = (more: object = {}) =>
    readTryRequest({ method: 'GET', target: '/services/v2/question.json?page=1', ...more });

  describe('a request of the form', () => {
    it('consists of method, target, listed headers, body and credential', () => {
      expect(
        form({
          method: 'POST',
          headers: { accept: 'application/json', 'X-Request-Id': 'try-1' },
          body: '{}',
          credential: { name: 'alice', password: 'a:b' },
        }),
      ).toEqual({
        ok: true,
        request: {
          method: 'POST',
          target: '/services/v2/question.json?page=1',
          headers: {
            Accept: 'application/json',
            'X-Request-Id': 'try-1',
            Authorization: `Basic ${Buffer.from('alice:a:b').toString('base64')}`,
          },
          body: '{}',
        },
      });
    });

    it.each([
      '/metrics',
      '/services/v1/question.json',
      'http://192.0.2.1/services/v2/question.json',
      '//192.0.2.1/services/v2/question.json',
      '@192.0.2.1/services/v2/a.json',
      '/services/v2/../../admin',
      '/services/v2/%2e%2e/%2E%2e/admin',
      '/services/v2/a%2f..%2f../admin',
      String.raw`/services/v2/..\..\admin`,
      '/services/v2/..;/admin',
      '/services/v2/a b.json',
      '/services/v2/a.json\r\nHost: elsewhere',
      '/services/v2/a.json#b',
      `/services/v2/${'a'.repeat(9000)}`,
      17,
    ])('has a target below /services/v2/: not %j', (target) => {
      expect(form({ target })).toMatchObject({ ok: false, field: 'target' });
    });

    it.each([{ method: 'CONNECT' }, { method: 'TRACE' }, { method: 'get' }, { method: undefined }])(
      'has a method that makes sense: not %j',
      (more) => expect(form(more)).toMatchObject({ ok: false, field: 'method' }),
    );

    it.each([
      { Host: 'elsewhere' },
      { Authorization: 'Basic eDp5' },
      { Cookie: 'a=b' },
      { 'Transfer-Encoding': 'chunked' },
      { 'Content-Length': '5' },
      { Connection: 'upgrade' },
      { 'X-Forwarded-For': '192.0.2.1' },
      { Accept: 'a\r\nHost: elsewhere' },
      { Accept: 17 },
      { Accept: 'a'.repeat(1001) },
    ])('has only headers that frame nothing and identify no one: not %j', (headers) => {
      expect(form({ headers })).toMatchObject({ ok: false, field: 'headers' });
    });

    it.each([{ body: 17, method: 'POST' }, { body: 'text' }])(
      'has a text as its body, and none with GET: not %j',
      (more) => expect(form(more)).toMatchObject({ ok: false, field: 'body' }),
    );

    it.each([
      { name: '', password: 'a' },
      { name: 'a:b', password: 'a' },
      { name: 'a'.repeat(300), password: 'a' },
      { name: 'a' },
      'alice',
      null,
    ])('has a name without a colon and a password: not %j', (credential) => {
      expect(form({ credential })).toMatchObject({ ok: false, field: 'credential' });
    });

    it.each([undefined, null, [], 'text'])('is not %j', (given) => {
      expect(readTryRequest(given)).toMatchObject({ ok: false, field: 'method' });
    });
  });

  describe('the curl command of a request', () => {
    const asked = { origin: 'http://127.0.0.1:8080', method: 'POST', target: '/services/v2/x.json' };

    it('quotes each value as one word of the shell', () => {
      const body = `'; touch /tmp/x; echo '`;
      expect(curlLine({ ...asked, body })).toContain(String.raw`--data-raw ''\''; touch /tmp/x; echo '\''' `);
    });

    // After --data and --data-binary, @ names a file.
    it('sends a body that begins with @ literally, not a file of that name', () => {
      const line = curlLine({ ...asked, body: '@/etc/passwd' });
      expect(line).toBe('curl -X POST --data-raw @/etc/passwd http://127.0.0.1:8080/services/v2/x.json');
    });
  });
});

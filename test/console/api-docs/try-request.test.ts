import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTryRequest } from '../../../src/console/api-docs/try-request.ts';

interface Asked {
  readonly origin: string;
  readonly method: string;
  readonly target: string;
  readonly body?: string;
}

const file = join(import.meta.dirname, '../../../src/console/public/reference/curl.js');
const { curlLine } = (await import(pathToFileURL(file).href)) as { curlLine: (asked: Asked) => string };

const form = (more: object = {}) =>
  readTryRequest({ method: 'GET', target: '/services/v2/question.json?page=1', ...more });

describe('a request to be tried', () => {
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
  ])('has only header fields that frame nothing and name nobody: not %j', (headers) => {
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

  it.each([undefined, null, [], 'text'])('is no %j', (given) => {
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

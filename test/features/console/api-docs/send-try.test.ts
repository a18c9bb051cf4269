import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readTryRequest, sendTry } from '../../../../src/features/console/api-docs/send-try.ts';
import { startFakeUpstream } from '../../../builders/fake-upstream.ts';

interface Asked {
  readonly origin: string;
  readonly method: string;
  readonly target: string;
  readonly user?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const file = join(import.meta.dirname, '../../../../src/features/console/public/reference/code.js');
type ToCode = (asked: Asked) => string;
const { curlLine, CODE } = (await import(pathToFileURL(file).href)) as {
  curlLine: ToCode;
  CODE: Readonly<Record<'curl' | 'fetch' | 'Python', ToCode>>;
};
const { firstValues, firstBody } = (await import(
  pathToFileURL(join(import.meta.dirname, '../../../../src/features/console/public/reference/sample.js')).href
)) as {
  firstValues: (operation: object, schemas: object) => Record<string, string>;
  firstBody: (operation: object, schemas: object) => string;
};

describe('trying a request', () => {
  const asked = { method: 'GET', target: '/services/v2/a.json', headers: {}, body: undefined };

  async function fake(...[handler]: Parameters<typeof startFakeUpstream>) {
    const server = await startFakeUpstream(handler);
    const { hostname: host, port } = new URL(server.url);
    return { requests: server.requests, address: { host, port: Number(port) } };
  }

  it('sends it unchanged below the base path and returns the response', async () => {
    const { address, requests } = await fake(() => ({ status: 201, headers: { 'X-A': ['1', '2'] }, body: 'stored' }));
    const result = await sendTry(address, '/qa', {
      ...asked,
      method: 'POST',
      headers: { Accept: 'text/plain' },
      body: 'é',
    });
    expect(result).toMatchObject({ status: 201, statusText: 'Created', body: 'stored', bytes: 6, cut: false });
    expect(result.headers.filter(([name]) => name === 'X-A')).toEqual([
      ['X-A', '1'],
      ['X-A', '2'],
    ]);
    expect(result.seconds).toBeGreaterThan(0);
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
    const result = await sendTry(address, '', asked);
    expect([result.cut, result.broken, result.body.length, result.bytes]).toEqual([true, false, 524_288, 524_288]);
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
    const result = await sendTry(address, '', asked);
    expect([result.text, result.cut, result.body.length]).toEqual([true, true, 262_144]);
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
    readTryRequest({ method: 'GET', target: '/services/v2/question.json?page=1', ...more }, '/services/v2/');

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
      expect(readTryRequest(given, '/services/v2/')).toMatchObject({ ok: false, field: 'method' });
    });
  });

  describe('the code of a request', () => {
    const example = {
      origin: 'http://127.0.0.1:8080',
      method: 'POST',
      target: '/services/v2/x.json?a=1',
      user: 'alice',
      headers: { Accept: 'application/json' },
      body: '{"text":"it\'s \\"quoted\\"\\n"}',
    };
    // A quotation mark or line break in a body must not end the string in the generated code.
    const quoted = JSON.stringify(example.body);

    it('is JavaScript that sends the request with fetch', async () => {
      const sent: unknown[] = [];
      const fetchFake = (...request: unknown[]) => {
        sent.push(request);
        return { status: 200, json: () => ({}) };
      };
      expect(CODE.fetch(example)).toContain(quoted);
      // The code is a module, so it may use await.
      const body = CODE.fetch(example).replace("'YOUR PASSWORD'", "'secret'");
      // oxlint-disable-next-line typescript/no-implied-eval -- the code is the subject of the test
      const run = new Function('fetch', 'console', `return (async () => { ${body} })();`) as (
        ...given: unknown[]
      ) => Promise<void>;
      await run(fetchFake, { log: () => undefined });
      expect(sent).toEqual([
        [
          'http://127.0.0.1:8080/services/v2/x.json?a=1',
          {
            method: 'POST',
            headers: { Accept: 'application/json', Authorization: `Basic ${btoa('alice:secret')}` },
            body: example.body,
          },
        ],
      ]);
    });

    it('is Python that sends the request with requests', () => {
      expect(CODE.Python(example)).toBe(
        [
          'from getpass import getpass',
          '',
          'import requests',
          '',
          'response = requests.request(',
          '    "POST",',
          '    "http://127.0.0.1:8080/services/v2/x.json?a=1",',
          '    auth=("alice", getpass()),',
          '    headers={"Accept": "application/json"},',
          `    data=${quoted}.encode(),`,
          ')',
          'print(response.status_code, response.text)',
        ].join('\n'),
      );
      expect(CODE.Python({ origin: 'http://h', method: 'GET', target: '/x.json' })).not.toMatch(
        /getpass|data=|headers=/,
      );
    });
  });

  describe('the sample of an operation', () => {
    const schemas = {
      Id: { type: 'integer', minimum: 3 },
      Input: {
        type: 'object',
        required: ['text', 'kind'],
        properties: { text: { type: 'string' }, kind: { enum: ['a', 'b'] }, more: { type: 'string' } },
      },
    };

    it('fills in path parameters and the first page, and leaves other parameters empty', () => {
      const parameters = [
        { name: 'nodeId', in: 'path', schema: { $ref: '#/components/schemas/Id' } },
        { name: 'key', in: 'path', schema: { type: 'string' }, example: 'QA-1' },
        { name: 'page', in: 'query', schema: {} },
        { name: 'pageSize', in: 'query', schema: {} },
        { name: 'sort', in: 'query', schema: {}, example: 'newest' },
      ];
      expect(firstValues({ parameters, paging: { firstPage: 0 } }, schemas)).toEqual({
        'path:nodeId': '3',
        'path:key': 'QA-1',
        'query:page': '0',
        'query:pageSize': '5',
      });
    });

    it('has a body with the required fields if the contract has no example', () => {
      const content = [{ schema: { $ref: '#/components/schemas/Input' }, examples: [] }];
      expect(JSON.parse(firstBody({ requestBody: { content } }, schemas))).toEqual({ text: 'text', kind: 'a' });
    });
  });

  describe('the curl command of a request', () => {
    const asked = { origin: 'http://127.0.0.1:8080', method: 'POST', target: '/services/v2/x.json' };

    it('quotes each value as one word of the shell', () => {
      const body = `'; touch /tmp/x; echo '`;
      expect(curlLine({ ...asked, body })).toContain(String.raw`--data-raw ''\''; touch /tmp/x; echo '\''' `);
    });

    // With --data and --data-binary, a value that begins with @ is the name of a file.
    it('sends a body that begins with @ literally, not a file of that name', () => {
      const line = curlLine({ ...asked, body: '@/etc/passwd' });
      expect(line).toBe('curl -X POST --data-raw @/etc/passwd http://127.0.0.1:8080/services/v2/x.json');
    });
  });
});

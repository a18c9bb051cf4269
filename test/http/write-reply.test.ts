import { once } from 'node:events';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ReplyContext, writeReply } from '../../src/http/write-reply.ts';
import type { Reply } from '../../src/pipeline/reply.ts';
import { callAt, type Call } from '../builders/call.ts';
import { JSON_TYPE } from '../builders/exchange.ts';
import { until } from '../builders/until.ts';
import { serve, talk } from './serve.ts';

const page: Reply = { status: 200, headers: JSON_TYPE, body: Buffer.from('{"a":1}'), etag: '"tag"' };

/** What a client gets of a reply, and what was counted. */
async function written(reply: Reply, context: Partial<ReplyContext> = {}, call: Call = {}) {
  const bytes: (number | Promise<number>)[] = [];
  const { url } = await serve((request, response) => {
    bytes.push(
      writeReply(response, reply, {
        method: request.method ?? '',
        ifNoneMatch: request.headers['if-none-match'],
        extra: [['Via', '1.1 portico']],
        ...context,
      }),
    );
  });
  const answer = await callAt(url, '/', call);
  return { answer, bytes: await bytes[0] };
}

describe('a reply', () => {
  it('is sent with its fields, those of the edge, its length and its entity tag', async () => {
    const { answer, bytes } = await written(page);
    expect([answer.status, answer.text, bytes]).toEqual([200, '{"a":1}', 7]);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json;charset=UTF-8',
      'content-length': '7',
      etag: '"tag"',
      via: '1.1 portico',
    });
  });

  it('keeps every field of the same name', async () => {
    const headers: Reply['headers'] = [
      ['Link', '<a>'],
      ['Link', '<b>'],
    ];
    expect((await written({ ...page, headers })).answer.rawHeaders.filter((text) => text.startsWith('<'))).toEqual([
      '<a>',
      '<b>',
    ]);
  });

  it('keeps the length that the upstream named', async () => {
    const { answer } = await written({ ...page, headers: [['content-length', '7']] });
    expect(answer.rawHeaders.filter((name) => name.toLowerCase() === 'content-length')).toHaveLength(1);
  });

  it('to HEAD has the same fields and no body', async () => {
    const get = await written(page);
    const head = await written(page, {}, { method: 'HEAD' });
    expect(head.answer.headers).toMatchObject({ 'content-length': '7', etag: '"tag"' });
    expect(head.answer.rawHeaders.length).toBe(get.answer.rawHeaders.length);
    expect([head.answer.text, head.bytes]).toEqual(['', 0]);
  });

  it('to HEAD names no length that nobody knows', async () => {
    const { answer } = await written({ status: 200, headers: [], body: Buffer.alloc(0) }, {}, { method: 'HEAD' });
    expect(answer.headers['content-length']).toBeUndefined();
    expect((await written({ status: 200, headers: [], body: Buffer.alloc(0) })).answer.headers['content-length']).toBe(
      '0',
    );
  });

  it.each([204, 304])('of status %i has neither body nor length', async (status) => {
    const { answer, bytes } = await written({ status, headers: [], body: Buffer.from('x') });
    expect([answer.status, answer.text, answer.headers['content-length'], bytes]).toEqual([status, '', undefined, 0]);
  });
});

describe('the bytes of a reply', () => {
  it.each([
    ['whole', page, { method: 'GET', ifNoneMatch: undefined }, 7],
    ['for HEAD', page, { method: 'HEAD', ifNoneMatch: undefined }, 0],
    ['a 304', page, { method: 'GET', ifNoneMatch: '"tag"' }, 0],
    ['a stream for HEAD', { ...page, body: Readable.from([]) }, { method: 'HEAD', ifNoneMatch: undefined }, 0],
  ] satisfies [string, Reply, Partial<ReplyContext>, number][])(
    'are known at once where it is %s',
    async (_what, reply, context, expected) => {
      const counted: unknown[] = [];
      const { url } = await serve((_request, response) => {
        counted.push(writeReply(response, reply, { ...context, extra: [] }));
      });
      await callAt(url, '/', { method: context.method });
      expect(counted).toEqual([expected]);
    },
  );
});

describe('a conditional request', () => {
  const headers = { 'If-None-Match': '"other", "tag"' };

  it('is answered with 304 and no field of a body', async () => {
    const reply = { ...page, headers: [...JSON_TYPE, ['Content-Location', '/a'], ['Age', '3']] as Reply['headers'] };
    const { answer, bytes } = await written(reply, {}, { headers });
    expect([answer.status, answer.text, bytes]).toEqual([304, '', 0]);
    expect(answer.headers).toMatchObject({ etag: '"tag"', age: '3', 'content-location': '/a', via: '1.1 portico' });
    expect(answer.headers['content-type']).toBeUndefined();
    expect(answer.headers['content-length']).toBeUndefined();
  });

  it('is answered with 304 to HEAD too', async () => {
    expect((await written(page, {}, { method: 'HEAD', headers })).answer.status).toBe(304);
  });

  it('is answered in full when the tag is another one, or there is none', async () => {
    expect((await written({ ...page, etag: '"new"' }, {}, { headers })).answer.status).toBe(200);
    const { etag: _etag, ...untagged } = page;
    const answer = (await written(untagged, {}, { headers })).answer;
    expect([answer.status, answer.headers.etag]).toEqual([200, undefined]);
  });
});

describe('a reply with a gzip form', () => {
  const gzip = gzipSync(page.body as Buffer);

  it('is sent in that form, with its own length and tag', async () => {
    const { answer, bytes } = await written(page, { gzip });
    expect(gunzipSync(answer.bytes).toString()).toBe('{"a":1}');
    expect(bytes).toBe(gzip.length);
    expect(answer.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-length': String(gzip.length),
      'content-type': 'application/json;charset=UTF-8',
      etag: '"tag-gzip"',
    });
  });

  it('is sent to HEAD without it', async () => {
    const get = await written(page, { gzip });
    const head = await written(page, { gzip }, { method: 'HEAD' });
    expect([head.answer.text, head.bytes]).toEqual(['', 0]);
    const { date: _date, ...fields } = head.answer.headers;
    expect(get.answer.headers).toMatchObject(fields);
    expect(fields['content-encoding']).toBe('gzip');
  });

  it.each([
    ['"tag-gzip"', '"tag-gzip"'],
    ['"tag"', '"tag"'],
    ['W/"tag"', '"tag"'],
    ['"other", "tag-gzip"', '"tag-gzip"'],
    ['"tag", "tag-gzip"', '"tag-gzip"'],
    ['*', '"tag-gzip"'],
  ])('is 304 for a client that has %s, by the tag of its form', async (condition, etag) => {
    const headers = { 'If-None-Match': condition };
    const { answer, bytes } = await written(page, { gzip }, { headers });
    expect([answer.status, answer.headers.etag, answer.text, bytes]).toEqual([304, etag, '', 0]);
    expect(answer.headers).not.toHaveProperty('content-encoding');
    expect(answer.headers).not.toHaveProperty('content-length');
  });

  it.each([
    ['"tag"', '"tag"'],
    ['"tag-gzip"', '"tag-gzip"'],
    ['"tag", "tag-gzip"', '"tag"'],
    ['*', '"tag"'],
  ])('is 304 for a client that has %s and takes no form now', async (condition, etag) => {
    const { answer } = await written(page, {}, { headers: { 'If-None-Match': condition } });
    expect([answer.status, answer.headers.etag]).toEqual([304, etag]);
  });

  it('is sent in full where the client has neither form', async () => {
    for (const condition of ['"tag-br"', '"tag-gzip-gzip"', 'tag', '""'])
      for (const form of [gzip, undefined]) {
        const { answer } = await written(page, { gzip: form }, { headers: { 'If-None-Match': condition } });
        expect(answer.status).toBe(200);
      }
  });
});

describe('a reply that streams', () => {
  it('is sent as it comes and counted', async () => {
    const { answer, bytes } = await written({
      status: 200,
      headers: [],
      body: Readable.from(['abc', 'de'].map(Buffer.from)),
    });
    expect([answer.text, answer.complete, bytes]).toEqual(['abcde', true, 5]);
  });

  it('breaks the connection of the client when it breaks, after all that came was sent', async () => {
    const body = Readable.from(
      (async function* () {
        yield Buffer.from('abc');
        await Promise.reject(new Error('broken'));
      })(),
    );
    const { answer, bytes } = await written({ status: 200, headers: [['Content-Length', '9']], body });
    expect([answer.status, answer.text, answer.complete, bytes]).toEqual([200, 'abc', false, 3]);
  });

  it('is given up for HEAD', async () => {
    const body = Readable.from([Buffer.from('abc')]);
    const reply: Reply = { status: 203, headers: [['Content-Length', '99']], body };
    const { answer, bytes } = await written(reply, {}, { method: 'HEAD' });
    expect([answer.status, answer.headers['content-length'], bytes, body.destroyed]).toEqual([203, '99', 0, true]);
  });

  it('is given up when the client leaves', async () => {
    const body = new Readable({ read: () => undefined });
    body.push(Buffer.from('abc'));
    const { port } = await serve((_request, response) => {
      void writeReply(response, { status: 200, headers: [], body }, CONTEXT);
    });
    const { socket } = talk(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'data');
    socket.destroy();
    await until(() => body.destroyed);
  });

  it('is given up when the client has left before', async () => {
    const body = new Readable({ read: () => undefined });
    const gone = Promise.withResolvers<number>();
    const { port } = await serve((_request, response) => {
      response.once('close', () => {
        gone.resolve(writeReply(response, { status: 200, headers: [], body }, CONTEXT));
      });
      socket.destroy();
    });
    const { socket } = talk(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await gone.promise).toBe(0);
    expect(body.destroyed).toBe(true);
  });
});

const CONTEXT: ReplyContext = { method: 'GET', ifNoneMatch: undefined, extra: [] };

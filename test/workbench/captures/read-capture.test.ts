import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { jsonElements, JsonElementsError } from '../../../src/workbench/captures/json-elements.ts';
import { readCapture } from '../../../src/workbench/captures/read-capture.ts';
import { textLines } from '../../../src/workbench/captures/text-lines.ts';
import { tempFolder } from '../../builders/temp-folder.ts';

const folder = tempFolder();

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function entriesOf(name: string, content: string | Buffer) {
  const file = join(folder, name);
  writeFileSync(file, content);
  return all(readCapture(file, '/services/v2/'));
}

async function* inChunks(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const entry = (url: string, more: object = {}) => ({
  request: { method: 'GET', url },
  response: { status: 200, content: { mimeType: 'application/json', text: '{"a":1}' }, ...more },
});
const har = (...entries: object[]) =>
  JSON.stringify({ log: { version: '1.2', creator: { name: '"entries":[{}]' }, entries } });

describe('a HAR file', () => {
  it('is read entry by entry, with requests below the prefix of the server', async () => {
    const [first, second] = await entriesOf(
      'a.har',
      har(entry('https://x.example/qa/services/v2/idea.json?page=2#top'), { request: { method: 'post' } }),
    );
    expect(first).toEqual({
      method: 'GET',
      host: 'x.example',
      target: '/services/v2/idea.json?page=2',
      response: { status: 200, mediaType: 'application/json', body: Buffer.from('{"a":1}') },
    });
    expect(second).toEqual({ unreadable: 'not a request' });
  });

  it('knows bodies in base64, bodies that are missing, and requests that were blocked', async () => {
    const base64 = {
      content: { text: Buffer.from('{}').toString('base64'), encoding: 'base64' },
      headers: [{ name: 'Content-Type', value: 'application/json' }],
    };
    const found = await entriesOf(
      'b.har',
      har(
        entry('http://x/services/v2/idea.json', base64),
        entry('http://x/services/v2/idea.json', { content: { size: 12 } }),
        entry('http://x/services/v2/idea.json', { status: 0 }),
      ),
    );
    expect(found.map((one) => ('response' in one ? one.response : one))).toEqual([
      { status: 200, mediaType: 'application/json', body: Buffer.from('{}') },
      { status: 200, mediaType: undefined, body: undefined },
      undefined,
    ]);
  });

  it('may be compressed, also twice, whatever its name', async () => {
    const bytes = gzipSync(har(entry('http://x/services/v2/idea.json')));
    expect(await entriesOf('c.har.gz', bytes)).toHaveLength(1);
    expect(await entriesOf('c.har', gzipSync(bytes))).toHaveLength(1);
  });

  it('says nothing about bodies that are incomplete or were left out', async () => {
    const text = '{"a":1}';
    const compressed = (bytes: Buffer, coding: string) => ({
      headers: [{ name: 'Content-Encoding', value: coding }],
      content: { size: 7, text: bytes.toString('base64'), encoding: 'base64' },
    });
    const found = await entriesOf(
      'bodies.har',
      har(
        ...[
          { content: { size: 900, text } },
          { content: { size: 0 } },
          { content: { size: 0 }, status: 204 },
          compressed(gzipSync(text), 'gzip'),
          compressed(gzipSync(text).subarray(0, 12), 'gzip'),
          compressed(brotliCompressSync(text), 'br'),
          // Browsers keep the header, although they record what they have decompressed.
          compressed(Buffer.from(text), 'br'),
        ].map((more) => entry('http://x/services/v2/idea.json', more)),
      ),
    );
    const bodies = found.map((one) => ('response' in one ? one.response?.body?.toString() : one));
    expect(bodies).toEqual([undefined, undefined, '', text, undefined, text, text]);
  });
});

describe('jsonElements', () => {
  const text = JSON.stringify({
    log: { pages: [{ entries: [{ no: 1 }] }], entries: [{ a: '}"]{\\' }, { b: [[{}]] }, 5, { c: 'é' }] },
    entries: [{ no: 2 }],
  });

  it.each([1, 2, 3, 7, 1000])('finds the same elements in chunks of %s bytes', async (size) => {
    const found = await all(jsonElements(inChunks(text, size), ['log', 'entries'], 1000));
    expect(found.map((one) => 'bytes' in one && (JSON.parse(one.bytes.toString()) as object))).toEqual([
      { a: '}"]{\\' },
      { b: [[{}]] },
      { c: 'é' },
    ]);
  });

  it('skips an element that is too large, without keeping it', async () => {
    const large = JSON.stringify({ log: { entries: [{ a: 'x'.repeat(5000) }, { b: 1 }] } });
    const found = await all(jsonElements(inChunks(large, 100), ['log', 'entries'], 1000));
    expect(found).toEqual([{ skippedBytes: 5008 }, { bytes: Buffer.from('{"b":1}') }]);
  });

  it.each(['{"log":{"entries":[{"a":1}', '{"log":]', '['.repeat(600)])('rejects %j', async (broken) => {
    await expect(all(jsonElements(inChunks(broken, 9), ['log', 'entries'], 1000))).rejects.toThrow(JsonElementsError);
  });
});

describe('an access log', () => {
  it('is read line by line', async () => {
    const log = [
      '192.0.2.1 - - [06/May/2026:10:00:00 +0000] "GET /qa/services/v2/idea.json?q=a%20b HTTP/1.1" 200 512 "-" "curl"',
      '192.0.2.1 - bob [06/May/2026:10:00:01 +0000] "POST /services/v2/node/5/comment.json HTTP/2" 201 12',
      'nonsense',
      '',
    ].join('\r\n');
    expect(await entriesOf('access.log', log)).toEqual([
      {
        method: 'GET',
        target: '/services/v2/idea.json?q=a%20b',
        response: { status: 200, mediaType: undefined, body: undefined },
      },
      {
        method: 'POST',
        target: '/services/v2/node/5/comment.json',
        response: { status: 201, mediaType: undefined, body: undefined },
      },
      { unreadable: 'not a request' },
    ]);
  });

  const targetsOf = async (name: string, lines: readonly string[]) =>
    (await entriesOf(name, lines.join('\n'))).map((one) => ('target' in one ? one.target : one.unreadable));

  it('may have the request anywhere in the line', async () => {
    const found = await targetsOf('proxies.log', [
      'haproxy[1]: 10.0.1.2:33317 [x] in s/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET /services/v2/a.json HTTP/1.1"',
      'https 2026-07-02T22:23:00Z app/lb/5 10.0.0.1:80 0.1 200 200 0 57 "GET https://www.example.com:443/services/v2/b.json HTTP/1.1" "curl"',
      '10.0.0.1 - - [x] "GET /services/v2/c.json" -',
    ]);
    expect(found).toEqual(['/services/v2/a.json', '/services/v2/b.json', '/services/v2/c.json']);
  });

  it('has escaped characters, which are encoded as in a request', async () => {
    const found = await targetsOf('escapes.log', [
      String.raw`- "GET /services/v2/idea.json?q=\x22caf\xC3\xA9\x22 HTTP/1.1" 200`,
      String.raw`- "GET /services/v2/idea.json?q=\"a\\b\" HTTP/1.1" 200`,
      '- "GET /services/v2/idea.json?q=café HTTP/1.1" 200',
      String.raw`- "GET /services/v2/idea.json?q=a\tb HTTP/1.1" 200`,
    ]);
    expect(found).toEqual([
      '/services/v2/idea.json?q=%22caf%C3%A9%22',
      '/services/v2/idea.json?q=%22a%5Cb%22',
      '/services/v2/idea.json?q=caf%C3%A9',
      'not a request',
    ]);
    const broken = Buffer.concat([Buffer.from('- "GET /services/v2/'), Buffer.from([0xe9]), Buffer.from('" 200')]);
    expect(await entriesOf('latin1.log', broken)).toEqual([{ unreadable: 'not a request' }]);
  });

  it('may have JSON objects and other lines, and the query apart from the path', async () => {
    const found = await targetsOf('mixed.log', [
      'starting version 1',
      '{"request_method":"GET","uri":"/services/v2/idea.json","args":"page=2"}',
      '{"RequestMethod":"GET","RequestPath":"/services/v2/idea.json?page=3","DownstreamStatus":200}',
      '{"method":"GET","path":"/services/v2/idea.json","query":"-"}',
    ]);
    expect(found).toEqual([
      'not a request',
      ...['?page=2', '?page=3', ''].map((query) => `/services/v2/idea.json${query}`),
    ]);
  });

  it('is not Portico’s own log, which has neither ids nor queries', async () => {
    const line =
      '{"level":"info","requestId":"r","traceId":"t","spanId":"s","operation":"getIdea","method":"GET","path":"/services/v2/idea/{id}.json","status":200,"msg":"request"}';
    expect(await targetsOf('portico.log', [line])).toEqual(['not a request']);
  });

  it('must be in UTF-8', async () => {
    await expect(entriesOf('wide.log', Buffer.from('\uFEFF"GET /services/v2/a.json"', 'utf16le'))).rejects.toThrow(
      'is in UTF-16: convert it to UTF-8',
    );
  });

  it('must be extracted from a ZIP archive', async () => {
    await expect(entriesOf('log.har.zip', Buffer.from('PK\u0003\u0004\n{}\n'))).rejects.toThrow('extract it first');
  });

  it('is read up to a damaged place', async () => {
    const lines = Array.from({ length: 500 }, (_, at) => `"GET /services/v2/idea.json?page=${at} HTTP/1.1" 200\n`);
    const whole = gzipSync(lines.join(''));
    const file = join(folder, 'cut.log.gz');
    writeFileSync(file, whole.subarray(0, whole.length / 2));
    const entries = readCapture(file, '/services/v2/');
    expect((await entries.next()).value).toMatchObject({ target: '/services/v2/idea.json?page=0' });
    await expect(all(entries)).rejects.toThrow('unexpected end of file');
  });

  it('may have a JSON object in each line, with bodies', async () => {
    const log = [
      { request: { method: 'GET', url: 'http://x/services/v2/idea.json' }, response: { status: 200, body: '{"a":1}' } },
      {
        method: 'GET',
        path: '/services/v2/idea.json',
        status: '404',
        responseBody: { error: 'no' },
        contentType: 'application/json;charset=utf-8',
      },
      { request: 'GET /services/v2/idea.json HTTP/1.1', status: 200 },
      { message: 'started' },
    ];
    const found = await entriesOf('log.jsonl', log.map((line) => JSON.stringify(line)).join('\n'));
    expect(found).toEqual([
      {
        method: 'GET',
        host: 'x',
        target: '/services/v2/idea.json',
        response: { status: 200, mediaType: 'application/json', body: Buffer.from('{"a":1}') },
      },
      {
        method: 'GET',
        target: '/services/v2/idea.json',
        response: { status: 404, mediaType: 'application/json;charset=utf-8', body: Buffer.from('{"error":"no"}') },
      },
      {
        method: 'GET',
        target: '/services/v2/idea.json',
        response: { status: 200, mediaType: undefined, body: undefined },
      },
      { unreadable: 'not a request' },
    ]);
  });

  it('loses only a line that is too long', async () => {
    const found = await all(textLines(inChunks(`a\n${'b'.repeat(50)}\nc`, 8), 20));
    expect(found).toEqual([{ text: 'a' }, { skippedBytes: 50 }, { text: 'c' }]);
  });
});

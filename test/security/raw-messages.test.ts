import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleAnswer } from '../builders/example-answer.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { connectRaw } from '../upstream/support/raw-client.ts';

/*
 * The attack: a message is almost valid HTTP/1.1, so Portico and a balancer or proxy in front of it, or the server
 * behind it, read the same bytes differently. They may find another Host, another version, another end of the body or
 * another number of requests, so the request that one of them checks differs from the one that the other executes.
 * Therefore, messages like this are refused with the usual error body before anything is sent upstream, and the rest of
 * the connection is not read.
 */

const QUESTIONS = '/services/v2/question.json';
const AUTHORIZATION = `Authorization: ${basic('admin')}`;
const CHUNKS = '2\r\n{}\r\n0\r\n\r\n';

let fake: FakeUpstream;
let strict: TestGateway;
let observing: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleAnswer);
  const allow = [{ method: '*', path: '/services/v2/**' }];
  strict = await startTestGateway({ upstream: fake, config: { undocumented: { allow } } });
  observing = await startTestGateway({ upstream: fake, real: true });
  // From now on, the targets are known, and requests for them take the fast path.
  for (const gateway of [strict, observing])
    for (const target of [QUESTIONS, QUESTIONS, '/services/v2/other', '/services/v2/other']) await gateway.call(target);
});
beforeEach(() => {
  fake.requests.length = 0;
});

const SIDES = [
  { side: 'a documented address', url: () => strict.url, target: QUESTIONS },
  { side: 'a documented address in observe mode', url: () => observing.url, target: QUESTIONS },
  { side: 'an undocumented address', url: () => strict.url, target: '/services/v2/other' },
  { side: 'an undocumented address in observe mode', url: () => observing.url, target: '/services/v2/other' },
  { side: 'the admin side', url: () => strict.adminUrl, target: '/livez' },
];

const head = (line: string, ...headers: string[]) =>
  [line, ...headers, AUTHORIZATION, '', ''].join('\r\n').replace(/^\r\n/, '');
const get = (target: string, ...headers: string[]) => head(`GET ${target} HTTP/1.1`, ...headers);
const post = (target: string, ...headers: string[]) => head(`POST ${target} HTTP/1.1`, 'Host: x', ...headers);
const chunked = (target: string, ...codings: string[]) =>
  post(target, ...codings.map((coding) => `Transfer-Encoding: ${coding}`)) + CHUNKS;

/** The refused messages with their status. In each message, `t` is the target. */
const REFUSED: readonly (readonly [name: string, status: number, bytes: (t: string) => string])[] = [
  ['two Host headers', 400, (t) => get(t, 'Host: x', 'Host: y')],
  ['the same Host header twice', 400, (t) => get(t, 'Host: x', 'hOST: x')],
  ['two Host headers in HTTP/1.0', 400, (t) => head(`GET ${t} HTTP/1.0`, 'Host: x', 'Host: x')],
  ['no Host header', 400, (t) => get(t)],
  ['a list of hosts', 400, (t) => get(t, 'Host: x, y')],
  ['a Host header and another host in the target', 400, (t) => get(`http://y${t}`, 'Host: x')],
  ['a Host header and another port in the target', 400, (t) => get(`http://x:81${t}`, 'Host: x')],
  ['a user in the target', 400, (t) => get(`http://u:p@x${t}`, 'Host: x')],
  ['no host in the target', 400, (t) => get(`http://${t}`, 'Host: x')],
  ['another scheme in the target', 400, (t) => get(`ftp://x${t}`, 'Host: x')],
  ['two Authorization headers', 400, (t) => get(t, 'Host: x', AUTHORIZATION)],
  ['the same Content-Length twice', 400, (t) => `${post(t, 'Content-Length: 2', 'Content-Length: 2')}{}`],
  ['another coding before chunked', 501, (t) => chunked(t, 'gzip, chunked')],
  ['another coding before chunked in a separate header', 501, (t) => chunked(t, 'gzip', 'chunked')],
  ['identity before chunked', 501, (t) => chunked(t, 'identity, chunked')],
  ['nothing before chunked', 501, (t) => chunked(t, ', chunked')],
  ['identity', 501, (t) => chunked(t, 'identity')],
  ['gzip', 501, (t) => chunked(t, 'gzip')],
  ['chunked twice', 501, (t) => chunked(t, 'chunked, chunked')],
  ['chunked in two headers', 501, (t) => chunked(t, 'chunked', 'chunked')],
  ['chunked with a parameter', 501, (t) => chunked(t, 'chunked;a=b')],
  ['chunked in quotes', 501, (t) => chunked(t, '"chunked"')],
  ['chunked before a tab', 501, (t) => chunked(t, 'chunked\t')],
  // Node's parser rejects this one only after it has emitted the request.
  ['chunked before a tab of a GET', 501, (t) => get(t, 'Host: x', 'Transfer-Encoding: chunked\t') + CHUNKS],
  ['an empty coding', 501, (t) => chunked(t, '')],
  ['an unknown coding of a GET', 501, (t) => get(t, 'Host: x', 'Transfer-Encoding: gzip, chunked') + CHUNKS],
  ['chunked in HTTP/1.0', 400, (t) => head(`POST ${t} HTTP/1.0`, 'Transfer-Encoding: chunked') + CHUNKS],
  ['a coding and a length', 400, (t) => chunked(t, 'chunked\r\nContent-Length: 2')],
  ['HTTP/0.9', 400, (t) => `GET ${t}\r\n\r\n`],
  ['a written HTTP/0.9 version', 400, (t) => head(`GET ${t} HTTP/0.9`, 'Host: x')],
  ['HTTP/1.2', 400, (t) => head(`GET ${t} HTTP/1.2`, 'Host: x')],
  ['HTTP/2.0', 400, (t) => head(`GET ${t} HTTP/2.0`, 'Host: x')],
  ['the HTTP/2 preface', 400, () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a two-digit version', 400, (t) => head(`GET ${t} HTTP/1.10`, 'Host: x')],
  ['a lowercase version', 400, (t) => head(`GET ${t} http/1.1`, 'Host: x')],
  ['another protocol', 400, (t) => head(`GET ${t} RTSP/1.0`, 'Host: x')],
  ['CONNECT', 400, () => head('CONNECT x:80 HTTP/1.1', 'Host: x:80')],
  ['two spaces before the target', 400, (t) => head(`GET  ${t} HTTP/1.1`, 'Host: x')],
  ['two spaces after the target', 400, (t) => head(`GET ${t}  HTTP/1.1`, 'Host: x')],
  ['a space after the version', 400, (t) => head(`GET ${t} HTTP/1.1 `, 'Host: x')],
  ['a space before the method', 400, (t) => head(` GET ${t} HTTP/1.1`, 'Host: x')],
  ['a tab before the target', 400, (t) => head(`GET\t${t} HTTP/1.1`, 'Host: x')],
  ['a tab after the target', 400, (t) => head(`GET ${t}\tHTTP/1.1`, 'Host: x')],
  ['a request line ending in a bare LF', 400, (t) => `GET ${t} HTTP/1.1\nHost: x\r\n\r\n`],
  ['a request line ending in a bare CR', 400, (t) => `GET ${t} HTTP/1.1\rHost: x\r\n\r\n`],
  ['a header ending in a bare LF', 400, (t) => `GET ${t} HTTP/1.1\r\nHost: x\n\r\n`],
  ['a head ending in a bare LF', 400, (t) => `GET ${t} HTTP/1.1\r\nHost: x\r\n\n`],
  ['two blank lines before it', 400, (t) => `\r\n\r\n${get(t, 'Host: x')}`],
  ['a bare LF before it', 400, (t) => `\n${get(t, 'Host: x')}`],
  ['a bare CR before it', 400, (t) => `\r${get(t, 'Host: x')}`],
];

/** The accepted messages, and whether the connection is closed after the response. */
const ACCEPTED: readonly (readonly [name: string, closed: boolean, bytes: (t: string) => string])[] = [
  ['an ordinary request', false, (t) => get(t, 'Host: x')],
  ['one blank line before it', false, (t) => `\r\n${get(t, 'Host: x')}`],
  ['an absolute target', false, (t) => get(`http://x${t}`, 'Host: x')],
  ['an absolute target that names the default port', false, (t) => get(`HTTP://X:80${t}`, 'Host: x')],
  ['HTTP/1.0', true, (t) => head(`GET ${t} HTTP/1.0`)],
  ['HTTP/1.0 with a Host header', true, (t) => head(`GET ${t} HTTP/1.0`, 'Host: x')],
  ['chunked in capitals', false, (t) => get(t, 'Host: x', 'Transfer-Encoding: CHUNKED  ') + '0\r\n\r\n'],
  ['chunked after a tab', false, (t) => get(t, 'Host: x', 'Transfer-Encoding: \tchunked') + '0\r\n\r\n'],
  ['a last request', true, (t) => get(t, 'Host: x', 'Connection: close')],
];

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)].map(([, status]) => Number(status));
const portOf = (url: string) => Number(new URL(url).port);
const HIDDEN = `DELETE /services/v2/hidden HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}\r\n\r\n`;

describe.each(SIDES)('on $side', ({ url, target }) => {
  it.each(REFUSED)('refuses %s with %i and reads nothing after it', async (_name, status, bytes) => {
    const client = await connectRaw(portOf(url()));
    client.socket.write(bytes(target) + HIDDEN, 'latin1');
    expect(await client.closed).toBe(false);
    const text = client.received();
    expect(statuses(text)).toEqual([status]);
    expect(text).toMatch(/^Connection: close\r$/m);
    const code = status === 501 ? 'unknown_transfer_coding' : 'malformed_request';
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({ code, status });
    expect(fake.requests).toEqual([]);
  });

  // One invalid byte must not cost other callers on the same connection their responses, especially those to
  // writes.
  it.each(REFUSED)('refuses %s after two good requests with %i after both responses', async (_name, status, bytes) => {
    const good = get(target, 'Host: x');
    const client = await connectRaw(portOf(url()));
    client.socket.write(good + good + bytes(target) + HIDDEN, 'latin1');
    expect(await client.closed).toBe(false);
    const expected = target.endsWith('other') ? 404 : 200;
    expect(statuses(client.received())).toEqual([expected, expected, status]);
    expect(fake.requests.filter((one) => one.method !== 'GET' || one.target !== target)).toEqual([]);
  });

  it.each(ACCEPTED)('accepts %s (connection closed: %s)', async (_name, closed, bytes) => {
    const client = await connectRaw(portOf(url()));
    client.socket.write(bytes(target), 'latin1');
    if (closed) await client.closed;
    else {
      await client.until(/HTTP\/1\.1/);
      client.socket.write(get(target, 'Host: x', 'Connection: close'));
      await client.closed;
    }
    const text = client.received();
    expect(statuses(text)).toHaveLength(closed ? 1 : 2);
    expect(statuses(text).filter((status) => status !== (target.endsWith('other') ? 404 : 200))).toEqual([]);
    if (_name.includes('1.0')) expect(text).not.toMatch(/transfer-encoding/i);
  });
});

it('counts refused messages, on both sides', async () => {
  for (const url of [strict.url, strict.adminUrl]) {
    const count = () => strict.metric('portico_errors_total{operation="undocumented",code="malformed_request"}');
    const before = await count();
    const client = await connectRaw(portOf(url));
    client.socket.write('GET / HTTP/1.2\r\n\r\n');
    await client.closed;
    expect(await count()).toBe(before + 1);
  }
});

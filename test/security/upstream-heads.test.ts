import { beforeAll, describe, expect, it } from 'vitest';
import type { ClientResponse } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { operationOf, targetOf } from '../builders/operations.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

/*
 * The attack: an upstream sends responses that begin with unexpected bytes. An unsolicited `100 Continue` used to turn
 * every documented exchange into a 502, even when an upload had already been carried out. A status or reason phrase
 * that Node refuses to write used to turn the upstream's error into an internal error.
 */

let fake: FakeUpstream;
const gateways = new Map<string, TestGateway>();
const PASSED = '/services/v2/elsewhere.json';
const allow = [{ method: '*', path: '/services/v2/**' }];
beforeAll(async () => {
  fake = await startFakeUpstream(() => ({ status: 404 }));
  const upstream = { circuit: { failures: 100_000 } };
  const strict = { undocumented: { allow }, cache: { enabled: false }, upstream };
  gateways.set('strict', await startTestGateway({ upstream: fake, config: strict }));
  gateways.set('observe', await startTestGateway({ upstream: fake, config: { mode: 'observe', upstream } }));
});

/** Requests that are forwarded in different ways, each with a valid response body. */
const WAYS = {
  'a documented page': ['GET', targetOf(operationOf('listQuestions')), exampleOf('listQuestions')],
  'a documented upload': ['POST', targetOf(operationOf('uploadGdprFile')), exampleOf('uploadGdprFile')],
  'an undocumented request': ['GET', PASSED, { passed: true }],
  'an undocumented write': ['POST', PASSED, { passed: true }],
} satisfies Record<string, [string, string, unknown]>;
const IN_EVERY_MODE = ['strict', 'observe'].flatMap((mode) =>
  (Object.keys(WAYS) as (keyof typeof WAYS)[]).map((way) => [way, mode] as const),
);
const SUCCESS = '200 OK';

/**
 * Sends one of the requests in `WAYS`. The upstream writes the given bytes and then its final response with this status
 * line.
 */
async function send(way: keyof typeof WAYS, mode: string, before: string, status = SUCCESS): Promise<ClientResponse> {
  const body = JSON.stringify(WAYS[way][2]);
  const head = [`HTTP/1.1 ${status}`, 'Content-Type: application/json', `Content-Length: ${body.length}`, '', ''];
  return exchange(way, mode, before + head.join('\r\n') + body);
}

/** Sends one of the requests in `WAYS`. The upstream responds with the given bytes, one per character of `bytes`. */
async function exchange(way: keyof typeof WAYS, mode: string, bytes: string): Promise<ClientResponse> {
  const [method, target] = WAYS[way];
  fake.requests.length = 0;
  fake.handler = (_request, { socket }) => void socket?.end(Buffer.from(bytes, 'latin1'));
  const gateway = gateways.get(mode) as TestGateway;
  return gateway.call(target, {
    method,
    ...(method === 'POST' && { body: operationOf('uploadGdprFile').body }),
    headers: { 'Portico-Force': 'true' },
  });
}

/** Sends one of these requests. The upstream writes a chunked response with this header. */
async function sendCoded(
  way: keyof typeof WAYS,
  mode: string,
  header: string,
  status: string,
): Promise<ClientResponse> {
  const body = JSON.stringify(WAYS[way][2]);
  const chunked = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  return exchange(
    way,
    mode,
    [`HTTP/1.1 ${status}`, 'Content-Type: application/json', header, '', chunked].join('\r\n'),
  );
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

describe.each(IN_EVERY_MODE)('%s in %s', (way, mode) => {
  const success = way === 'a documented upload' ? '201 Created' : SUCCESS;

  it.each([
    ['100 Continue', CONTINUE],
    ['102 Processing', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['103 Early Hints', 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'],
    ['an unknown interim status', 'HTTP/1.1 150 Wait\r\n\r\n'],
    ['several of them', `${CONTINUE}HTTP/1.1 103 Early Hints\r\n\r\n${CONTINUE}`],
  ])('accepts %s before the response', async (_name, before) => {
    const { status, text } = await send(way, mode, before, success);
    expect([status, JSON.parse(text)]).toEqual([Number(success.slice(0, 3)), WAYS[way][2]]);
    expect(fake.requests).toHaveLength(1);
  });

  it.each([
    ['a storm of 100 Continue', CONTINUE.repeat(1000)],
    ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    ['a switch of protocols without a name', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ])('becomes a 502 for %s', async (_name, before) => {
    expect((await send(way, mode, before, success)).status).toBe(502);
    expect(fake.requests).toHaveLength(1);
  });

  it.each([
    '000 Nothing',
    '099 Low',
    '150 Final',
    '600 High',
    '999 Highest',
    '200 A\u0001B',
    '200 \u007f',
    '404 A\u0000B',
    '1000 X',
  ])('becomes a 502 for the status line %j', async (line) => {
    const { status, text } = await send(way, mode, '', line);
    expect(status).toBe(502);
    expect(text).not.toContain('internal_error');
  });

  // The header applies to a single connection, so it is removed. If the response were forwarded without it, the client
  // would mistake the encoded bytes for the content.
  it.each([
    'gzip, chunked',
    'gzip',
    'chunked, gzip',
    'chunked, chunked',
    'xchunked',
    'chunked\r\nTransfer-Encoding: gzip',
  ])('becomes a 502 for the transfer coding %j', async (coding) => {
    expect((await sendCoded(way, mode, `Transfer-Encoding: ${coding}`, success)).status).toBe(502);
  });

  it.each(['Transfer-Encoding: chunked', 'transfer-encoding: Chunked'])('is forwarded with %s', async (header) => {
    expect((await sendCoded(way, mode, header, success)).json).toEqual(WAYS[way][2]);
  });

  it('is forwarded with the former coding that changes nothing', async () => {
    const head = `HTTP/1.1 ${success}\r\nContent-Type: application/json\r\nTransfer-Encoding: identity\r\n\r\n`;
    expect((await exchange(way, mode, head + JSON.stringify(WAYS[way][2]))).json).toEqual(WAYS[way][2]);
  });

  it.each(['a\u0001b', 'a\u0000b', 'a\u007fb'])('never becomes a 500 for a header with the value %j', async (value) => {
    const { status } = await send(way, mode, '', `${success}\r\nX-Odd: ${value}`);
    expect([502, Number(success.slice(0, 3))]).toContain(status);
  });
});

describe('an unusual but valid status', () => {
  it.each(IN_EVERY_MODE.filter(([way, mode]) => mode === 'observe' || way.startsWith('a passed')))(
    'is forwarded: %s in %s',
    async (way, mode) => {
      for (const line of ['299 Odd', '599 Odd', '200 ', '200 Gr\u00fc\u00dfe\tA', '418 I am a teapot'])
        expect((await send(way, mode, '', line)).status).toBe(Number(line.slice(0, 3)));
    },
  );
});

import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { heldMemory } from '../builders/held-memory.ts';
import { isLongRun } from '../builders/property-runs.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { until } from '../builders/until.ts';
import { RAW_CASES } from './raw-cases.ts';
import { mapInParallel, runRawCase, sendBytes, statusesIn } from './raw-runner.ts';

/*
 * Two attacks. In the first, a client repeatedly sends broken messages, each of which leaves a little memory or a
 * socket behind. In the second, a client disconnects at an unfortunate moment or never finishes what it began, so that
 * whatever was reserved for it is never released.
 */

const COMMENT = '/services/v2/node/118/comment.json';
const AUTHORIZATION = `Authorization: ${basic('admin')}`;
const HEAD = `POST ${COMMENT} HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}\r\nContent-Type: application/json\r\n`;
const COUNTED = `${HEAD}Content-Length: 12\r\n\r\n{"body":"x"}`;
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\nc\r\n{"body":"x"}\r\n0\r\n\r\n`;

let fake: FakeUpstream;
let strict: TestGateway;
let observing: TestGateway;
beforeAll(async () => {
  fake = await startFakeUpstream((request) => exampleResponse(request));
  // The cache is off, so that stored data does not look like a leak.
  const config = {
    cache: { enabled: false },
    logging: { level: 'silent' },
    listen: { headersTimeoutSeconds: 1, requestTimeoutSeconds: 1 },
  };
  strict = await startTestGateway({ upstream: fake, config });
  observing = await startTestGateway({ upstream: fake, config: { ...config, mode: 'observe' } });
});
beforeEach(() => {
  fake.requests.length = 0;
});
const both = () => [strict, observing];
const portOf = ({ url }: TestGateway) => Number(new URL(url).port);
/** Returns the open connections of this process, including the clients' ends. */
const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

/** Waits until the only open connections are those that the gateways keep open to the upstream. */
async function expectNoSockets(): Promise<void> {
  // Each gateway may keep a pool of connections open. Each connection counts twice, because the upstream's end of it
  // is also open.
  const pools = 2 * 32 * both().length;
  await until(() => sockets() <= pools);
  for (const gateway of both()) await expect.poll(() => gateway.metric('portico_upstream_in_flight')).toBe(0);
}

describe('the table of raw messages, sent again and again,', () => {
  const ROUNDS = isLongRun ? 12 : 1;
  // A short run sends every other message. raw-requests.test.ts sends all of them, but does not measure memory.
  const MESSAGES = RAW_CASES.filter((_, at) => isLongRun || at % 2 === 0);
  // Compiled code and bounded caches still grow a little, but by less than a kilobyte per message.
  const MAX_HELD = isLongRun ? 8_000_000 : 1_000_000;
  const targets = (id: number) => ({
    id: String(id),
    target: `/services/v2/comment/${id}.json`,
    write: `/services/v2/node/${id}/comment.json`,
    page: '/services/v2/question.json',
    etag: '"x"',
  });
  const round = async () => {
    for (const gateway of both()) {
      const side = { port: portOf(gateway), upstream: fake, targets };
      await mapInParallel(MESSAGES, 16, async (one) => void (await runRawCase(side, one)));
    }
    fake.requests.length = 0;
  };

  it('leaves neither memory nor sockets behind', { timeout: 600_000 }, async () => {
    // The first round fills bounded caches and compiles code.
    await round();
    const held = await heldMemory(async () => {
      for (let count = 0; count < ROUNDS; count += 1) await round();
    });
    expect(held).toBeLessThan(MAX_HELD);
    await expectNoSockets();
    for (const gateway of both()) expect((await gateway.call('/services/v2/comment/271.json')).status).toBe(200);
  });
});

describe('a client that leaves', () => {
  const MESSAGES = { counted: COUNTED, chunked: CHUNKED };
  /** Sends the first bytes of a message, then ends or resets the connection. Returns everything received. */
  async function leave(port: number, bytes: string, how: 'end' | 'reset'): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    const closed = once(socket, 'close');
    if (how === 'end') socket.end(bytes, 'latin1');
    else socket.write(bytes, 'latin1', () => socket.resetAndDestroy());
    await closed;
    return text;
  }

  describe.each(Object.entries(MESSAGES))('after any byte of a %s request', (_name, message) => {
    it.each(['end', 'reset'] as const)('by %s is never served, and occupies nothing afterwards', async (how) => {
      const lengths = Array.from({ length: message.length }, (_, at) => at);
      for (const gateway of both()) {
        const texts = await mapInParallel(lengths, 16, (length) =>
          leave(portOf(gateway), message.slice(0, length), how),
        );
        // A connection that ends in the middle of a message receives no response, or only a 400 or a 408.
        const replied = texts.filter((text) => statusesIn(text).some((status) => status !== 400 && status !== 408));
        expect(replied).toEqual([]);
      }
      expect(fake.requests).toEqual([]);
      await expectNoSockets();
    });

    // When a client ends its side of the connection, Node treats the client as gone, as most proxies do.
    it.each(['end', 'reset'] as const)('or after the last one by %s is served at most once', async (how) => {
      for (const gateway of both()) {
        fake.requests.length = 0;
        await leave(portOf(gateway), message, how);
        await expectNoSockets();
        expect(fake.requests.length).toBeLessThanOrEqual(1);
      }
    });
  });
});

describe('a client that does not finish', () => {
  const UNFINISHED = {
    'a request line': 'GET /services/v2/comm',
    'a request line, with a blank line before it': '\r\nGET ',
    'the headers': `GET /services/v2/comment/1.json HTTP/1.1\r\nHost: x\r\nX-A: `,
    'the blank line after the headers': `GET /services/v2/comment/1.json HTTP/1.1\r\nHost: x\r\n\r`,
    'a counted body': COUNTED.slice(0, -1),
    'a chunk size': CHUNKED.slice(0, CHUNKED.indexOf('c\r\n{') + 1),
    'a chunk': CHUNKED.slice(0, CHUNKED.indexOf('"x"')),
    'the last chunk': CHUNKED.slice(0, -4),
    'the blank line after the last chunk': CHUNKED.slice(0, -1),
    'a chunk that is larger than any memory': `${HEAD}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{`,
  };

  /** Sends a byte from time to time without ever finishing the headers. Returns everything received. */
  async function drip(port: number): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    const timer = setInterval(() => socket.write('x'), 50);
    socket.write('GET /services/v2/comment/1.json HTTP/1.1\r\nHost: x\r\nX-A: ');
    await once(socket, 'close');
    clearInterval(timer);
    return text;
  }

  // All clients connect at the same time, so that they wait for the time limit together.
  const results: [name: string, result: Awaited<ReturnType<typeof sendBytes>>][] = [];
  let dripped = '';
  let forwarded = 0;
  beforeAll(async () => {
    fake.requests.length = 0;
    const all = both().flatMap((gateway) =>
      Object.entries(UNFINISHED).map(async ([name, bytes]) => {
        results.push([name, await sendBytes(portOf(gateway), bytes)]);
      }),
    );
    [dripped] = await Promise.all([drip(portOf(strict)), ...all]);
    forwarded = fake.requests.length;
  });

  // The attack, known as Slowloris: a client opens many connections and leaves an unfinished request on each.
  it('with its request gets 408 in time, and the connection is closed', async () => {
    expect(results).toHaveLength(2 * Object.keys(UNFINISHED).length);
    for (const [name, { text, broken }] of results)
      expect([name, statusesIn(text), broken]).toEqual([name, [408], false]);
    expect(forwarded).toBe(0);
    await expectNoSockets();
  });

  it('and sends a byte from time to time gets no more time for it', () => {
    expect(statusesIn(dripped)).toEqual([408]);
  });
});

import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ProbeResult } from '../../src/doctor/probe.ts';
import { challengeProbe } from '../../src/doctor/probes/challenge.ts';
import { clockProbe } from '../../src/doctor/probes/clock-skew.ts';
import { compressionProbe } from '../../src/doctor/probes/compression.ts';
import { concurrencyProbe } from '../../src/doctor/probes/concurrency.ts';
import { conditionalProbe } from '../../src/doctor/probes/conditional-requests.ts';
import { errorProbe } from '../../src/doctor/probes/error-shapes.ts';
import { keepAliveProbe } from '../../src/doctor/probes/keep-alive.ts';
import { pageSizeProbe } from '../../src/doctor/probes/page-sizes.ts';
import { requestSizeProbe } from '../../src/doctor/probes/request-size.ts';
import { responseProbe } from '../../src/doctor/probes/response-heads.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import type { FakeHandler } from '../builders/fake-upstream.ts';
import { AUTHORIZATION, healthy, LIST, page, runProbe, runProbeAt } from './probe-setting.ts';

const texts = ({ findings = [] }: ProbeResult) => findings.map(({ severity, text }) => `${severity}: ${text}`);
const valueOf = ({ recommendations = [] }: ProbeResult, wanted: string) =>
  recommendations.find(({ key }) => key === wanted)?.value;

/** Returns a handler that adds headers to the responses of the healthy server. */
const withHeaders =
  (headers: Readonly<Record<string, string | readonly string[]>>): FakeHandler =>
  async (request, response) => {
    const answer = await healthy(request, response);
    return { ...answer, headers: { ...answer?.headers, ...headers } };
  };

describe('a server without defects', () => {
  it.each([
    ['responses', responseProbe],
    ['challenge', challengeProbe],
    ['errors', errorProbe],
    ['compression', compressionProbe],
    ['conditional requests', conditionalProbe],
    ['page sizes', pageSizeProbe],
    ['clock', clockProbe],
    ['keep-alive', keepAliveProbe],
    ['concurrency', concurrencyProbe],
  ])('has no findings about %s', async (_name, probe) => {
    expect(texts(await runProbe(probe, healthy))).toEqual([]);
  });
});

describe('the keep-alive probe', () => {
  it('measures how long an idle connection lives, and recommends less', async () => {
    const url = await startRawServer((socket) => {
      socket.on('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]');
        clearTimeout(timers.get(socket));
        timers.set(
          socket,
          setTimeout(() => socket.end(), 150),
        );
      });
    });
    const result = await runProbeAt(url, keepAliveProbe, { idleMs: 10_000 });
    const ms = valueOf(result, 'upstream.idleTimeoutMs');
    expect(ms).toBeGreaterThan(50);
    expect(ms).toBeLessThan(5000);
    expect(texts(result).join()).toMatch(/Idle connections are closed after \d+ ms/);
  });

  it('reports a server that closes the connection after each response', async () => {
    const result = await runProbe(keepAliveProbe, withHeaders({ Connection: 'close' }));
    expect(texts(result)).toEqual(['medium: The server closes the connection after each response.']);
  });

  it('believes a hint that is shorter than the limit of the measurement', async () => {
    const result = await runProbe(
      keepAliveProbe,
      withHeaders({ Connection: 'keep-alive', 'Keep-Alive': 'timeout=1' }),
      {
        idleMs: 1500,
      },
    );
    expect(valueOf(result, 'upstream.idleTimeoutMs')).toBeLessThanOrEqual(800);
  });

  // A firewall that forgets idle connections drops their packets or resets them, but closes nothing by itself.
  it('finds idle connections that no longer work although nobody closed them', async () => {
    const url = await startRawServer((socket) => {
      let count = 0;
      socket.on('data', () => {
        count += 1;
        if (count > 2) socket.resetAndDestroy();
        else socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]');
      });
    });
    expect(texts(await runProbeAt(url, keepAliveProbe, { idleMs: 100 }))).toEqual([
      'high: Idle connections stop working without being closed.',
    ]);
  });
});

describe('the compression probe', () => {
  const gzipped: FakeHandler = async (request, response) => {
    const asked = /gzip/.test(String(request.headers['accept-encoding']));
    const answer = await healthy(request, response);
    if (!asked) return answer;
    const body = gzipSync(JSON.stringify(answer?.json));
    return { ...answer, body, headers: { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' } };
  };

  it('accepts honest compression', async () => {
    const result = await runProbe(compressionProbe, gzipped);
    expect(texts(result)).toEqual([]);
    expect(result.facts.join()).toMatch(/sends gzip: \d+ instead of \d+ bytes/);
  });

  it('reports a body that is not compressed although the header says so', async () => {
    const result = await runProbe(
      compressionProbe,
      withHeaders({ 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' }),
    );
    expect(texts(result)).toContain(
      'critical: Asked for gzip, the server sends Content-Encoding: gzip, but the body is not compressed.',
    );
  });

  it('reports compression without a label, and compression that nobody asked for', async () => {
    const unlabeled: FakeHandler = () => ({ body: gzipSync('[]'), headers: { 'Content-Type': 'application/json' } });
    expect(texts(await runProbe(compressionProbe, unlabeled))).toEqual([
      'critical: Asked for gzip, the server sends gzip without Content-Encoding.',
      'critical: Asked for identity, the server sends gzip without Content-Encoding.',
    ]);
    const always: FakeHandler = () => ({ body: gzipSync('[]'), headers: { 'Content-Encoding': 'gzip' } });
    expect(texts(await runProbe(compressionProbe, always))).toEqual([
      'low: The server sends gzip although the client asked for identity.',
      'medium: Compressed responses do not have Vary: Accept-Encoding.',
    ]);
  });
});

describe('the response probe', () => {
  it.each<[string, Readonly<Record<string, string | readonly string[]>>, RegExp]>([
    ['repeated headers', { 'X-Frame-Options': ['DENY', 'SAMEORIGIN'] }, /only once: x-frame-options/],
    ['a charset other than UTF-8', { 'Content-Type': 'application/json; charset=ISO-8859-1' }, /charset ISO-8859-1/],
    ['cookies', { 'Set-Cookie': 'JSESSIONID=1' }, /Lists have Set-Cookie/],
    ['a Vary that prevents storing', { Vary: 'Accept-Encoding, User-Agent' }, /Lists have Vary: user-agent/],
    ['a large head', { 'X-Debug': 'x'.repeat(9000) }, /head has 9\d{3} bytes/],
  ])('reports %s', async (_name, headers, finding) => {
    expect(texts(await runProbe(responseProbe, withHeaders(headers))).join()).toMatch(finding);
  });

  it('reports bytes that are not UTF-8', async () => {
    const latin: FakeHandler = () => ({
      body: Buffer.from('["caf\xe9"]', 'latin1'),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(texts(await runProbe(responseProbe, latin))).toEqual(['high: Lists contain bytes that are not UTF-8.']);
  });

  it('reports HTTP/1.0', async () => {
    const url = await startRawServer((socket) => {
      socket.once('data', (data) => {
        const body = String(data).startsWith('HEAD') ? '' : '[]';
        socket.end(`HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n${body}`);
      });
    });
    expect(texts(await runProbeAt(url, responseProbe))).toEqual(['medium: The server responds with HTTP/1.0.']);
  });

  it('reports a HEAD that differs from GET', async () => {
    const result = await runProbe(responseProbe, (request, response) =>
      request.method === 'HEAD' ? { status: 405 } : healthy(request, response),
    );
    expect(texts(result)).toEqual(['low: HEAD gets 405, but GET gets 200.']);
  });
});

describe('the challenge probe', () => {
  it('recommends the realm of the server', async () => {
    expect(valueOf(await runProbe(challengeProbe, healthy), 'authentication.realm')).toBe('Real Answers');
  });

  it('recommends to admit anonymous callers if the server does', async () => {
    const open: FakeHandler = (request, response) =>
      request.headers.authorization === undefined ? { json: page(request.query) } : healthy(request, response);
    expect(valueOf(await runProbe(challengeProbe, open), 'authentication.anonymous')).toBe('allow');
  });

  it('reports a 401 without a challenge, and one without Basic', async () => {
    const silent: FakeHandler = async (request, response) => ({ ...(await healthy(request, response)), headers: {} });
    expect(texts(await runProbe(challengeProbe, silent))).toEqual(['low: A 401 has no challenge.']);
    const bearer = await runProbe(challengeProbe, withHeaders({ 'WWW-Authenticate': 'Bearer' }));
    expect(texts(bearer)).toEqual(['high: The server does not offer Basic authentication.']);
  });

  // If the probe path accepted any credential, the verifier `upstream` would let everybody in under any name.
  it('reports a server that does not tell a made-up credential from a valid one', async () => {
    const result = await runProbe(challengeProbe, ({ query }) => ({ json: page(query) }));
    expect(texts(result).join()).toMatch(/high: A made-up credential cannot be told from a valid one/);
  });

  it('finds another path for the credential probe if the default one is public', async () => {
    const result = await runProbe(challengeProbe, (request, response) =>
      request.path === LIST ? healthy(request, response) : { status: 404, json: { error: 'Not found.' } },
    );
    expect(valueOf(result, 'authentication.probe.path')).toBe(LIST);
    expect(texts(result)).toEqual([]);
  });

  // Failed logins under a real name could lock that account.
  it('tries a wrong password only with a made-up name', async () => {
    const names = new Set<string | undefined>();
    await runProbe(challengeProbe, (request, response) => {
      if (request.headers.authorization !== AUTHORIZATION) names.add(request.user);
      return healthy(request, response);
    });
    expect([...names].filter((name) => name !== undefined)).toEqual([
      expect.stringMatching(/^portico-doctor-[\da-f]{12}$/),
    ]);
  });
});

describe('the error probe', () => {
  it('names the form of each error', async () => {
    const result = await runProbe(errorProbe, (request, response) => {
      if (request.path.includes('/comment/')) return { status: 401, json: { errors: { message: 'No.' } } };
      return request.path === LIST ? healthy(request, response) : { status: 404, body: '<html>No such page</html>' };
    });
    expect(result.facts).toEqual([
      'A missing resource: 401 with {errors: {message}}.',
      'An unknown path: 404 with an HTML page.',
      'An invalid parameter: 400 with {error}.',
      'A list without a credential: 401 with {error}.',
    ]);
  });

  it('reports unknown forms, server errors and internals', async () => {
    const result = await runProbe(errorProbe, (request, response) => {
      if (request.path === LIST) return healthy(request, response);
      if (request.path.includes('/comment/')) return { status: 404, json: { fault: 'x' } };
      return { status: 500, body: '<html>java.lang.NullPointerException\n  at org.example.Qa(Qa.java:12)</html>' };
    });
    expect(texts(result)).toEqual([
      'medium: The error for a missing resource (404) has a form that Portico does not know.',
      'medium: The server responds to an unknown path with 500.',
      'low: The response to an unknown path shows internals of the server.',
    ]);
  });
});

describe('the clock probe', () => {
  it('reports a clock that is an hour off', async () => {
    const result = await runProbe(clockProbe, withHeaders({ Date: new Date(Date.now() - 3_600_000).toUTCString() }));
    expect(texts(result).join()).toMatch(/medium: The clocks differ by -3(?:599|600|601)\.\d s/);
  });

  it('cannot be done without a valid Date header', async () => {
    await expect(runProbe(clockProbe, withHeaders({ Date: 'today' }))).rejects.toThrow('no valid Date header');
  });
});

describe('the page-size probe', () => {
  it('finds the size at which the server cuts pages, and the default size', async () => {
    const result = await runProbe(pageSizeProbe, ({ query }) => ({ json: page(query, 50) }));
    expect(valueOf(result, 'pageBounds.maxPageSize')).toBe(50);
    expect(valueOf(result, 'cache.defaultPageSize.listQuestions')).toBe(15);
    expect(texts(result)).toEqual(['medium: For a page size of 100, the server sends 50 items.']);
  });

  it('finds the size that the server refuses', async () => {
    const result = await runProbe(pageSizeProbe, ({ query }) =>
      Number(query.get('pageSize')) > 100 ? { status: 400, json: { error: 'Too many.' } } : { json: page(query) },
    );
    expect(valueOf(result, 'pageBounds.maxPageSize')).toBe(100);
  });

  it('concludes nothing from a short list', async () => {
    const result = await runProbe(pageSizeProbe, () => ({ json: { list: [{ id: 1 }], totalCount: 1 } }));
    expect(result.recommendations).toEqual([]);
    expect(texts(result)).toEqual([]);
  });
});

describe('the probe of request heads', () => {
  it('finds the size that the server refuses', async () => {
    const result = await runProbe(requestSizeProbe, (request, response) =>
      String(request.headers['x-portico-doctor'] ?? '').length > 8000 ? { status: 431 } : healthy(request, response),
    );
    expect(valueOf(result, 'listen.maxHeaderBytes')).toBe(8000);
    expect(result.facts.join()).toMatch(/refused with 431/);
  });
});

describe('the probe of conditional requests', () => {
  it('reports whether the server confirms an unchanged page', async () => {
    const result = await runProbe(conditionalProbe, (request, response) =>
      request.headers['if-none-match'] === '"1"'
        ? { status: 304 }
        : withHeaders({ ETag: '"1"', 'Cache-Control': 'no-store' })(request, response),
    );
    expect(result.facts).toContain('The server confirms an unchanged ETag with 304.');
    expect(valueOf(result, 'cache.respectUpstream')).toBe(false);
  });

  it('reports a server that fails on a conditional request', async () => {
    const result = await runProbe(conditionalProbe, (request, response) =>
      request.headers['if-none-match'] === undefined
        ? withHeaders({ ETag: '"1"' })(request, response)
        : { status: 500, json: { error: 'x' } },
    );
    expect(texts(result).join()).toMatch(/neither 304 nor 200/);
  });
});

describe('the concurrency probe', () => {
  it('stops at the first failure, and recommends what the server stood', async () => {
    let active = 0;
    let most = 0;
    const result = await runProbe(
      concurrencyProbe,
      async ({ query }) => {
        active += 1;
        most = Math.max(most, active);
        const isTooMany = active > 4;
        await new Promise((resolve) => setTimeout(resolve, 20));
        active -= 1;
        return isTooMany ? { status: 503 } : { json: page(query) };
      },
      { maxConcurrency: 64 },
    );
    expect(valueOf(result, 'upstream.concurrency')).toBe(4);
    expect(texts(result).join()).toMatch(/With 8 concurrent requests, a request got 503/);
    // The server was never loaded further.
    expect(most).toBeLessThanOrEqual(8);
  });

  it('stops when requests become much slower', async () => {
    let active = 0;
    const result = await runProbe(
      concurrencyProbe,
      async ({ query }) => {
        active += 1;
        await new Promise((resolve) => setTimeout(resolve, active > 2 ? 400 : 5));
        active -= 1;
        return { json: page(query) };
      },
      { maxConcurrency: 8 },
    );
    expect(texts(result).join()).toMatch(/high: With 4 concurrent requests, requests take \d+ ms instead of \d+/);
  });

  it('never exceeds the allowed concurrency', async () => {
    const result = await runProbe(concurrencyProbe, healthy, { maxConcurrency: 3 });
    expect(result.facts.map((fact) => fact.split(' ')[0])).toEqual(['1', '2', '3']);
    expect(valueOf(result, 'upstream.concurrency')).toBe(3);
  });
});

const timers = new Map<Socket, NodeJS.Timeout>();

/** Starts a server that speaks to each socket itself. */
async function startRawServer(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUpAfterFile(() => {
    timers.forEach((timer) => clearTimeout(timer));
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

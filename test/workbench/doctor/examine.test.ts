import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../../bench/free-port.ts';
import {
  examine,
  type Examination,
  type ExamineOptions,
  maxRequests,
  PROBES,
} from '../../../src/workbench/doctor/examine.ts';
import { PROFILE } from '../../../src/profile/profile.ts';
import { parseUpstreamUrl } from '../../../src/engine/upstream/upstream-url.ts';
import { type FakeHandler, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { readText, sectionOf, tableBy } from '../../readme/tables.ts';
import { AUTHORIZATION, healthy, startRawServer } from './probe-setting.ts';

/** Examines a server quickly by watching idle connections for only 100 ms. */
function examineAt(url: string, options: Partial<ExamineOptions> = {}): Promise<Examination> {
  const parsed = parseUpstreamUrl(url, { source: '', pointer: '' });
  if (!('address' in parsed)) throw new Error('invalid URL');
  return examine(parsed.address, {
    profile: PROFILE,
    authorization: AUTHORIZATION,
    idleMs: 100,
    maxConcurrency: 2,
    timeoutMs: 20_000,
    delayMs: 0,
    signal: new AbortController().signal,
    onStep: () => undefined,
    ...options,
  });
}

const notDone = ({ steps }: Examination) =>
  steps.flatMap(({ name, notDone: reason }) => (reason === undefined ? [] : [`${name}: ${reason}`]));

/** Serves the API only under a prefix. All other paths return pages for browsers. */
const under =
  (prefix: string): FakeHandler =>
  (request, response) =>
    request.path.startsWith(`${prefix}/services/v2/`)
      ? healthy(request, response)
      : { status: 404, body: '<html>Not here</html>', headers: { 'Content-Type': 'text/html' } };

describe('an examination', () => {
  it('sends only GET and HEAD, within its limit, and sends no credential while it searches', async () => {
    const server = await startFakeUpstream(under('/qa'));
    const { requests, url } = await examineAt(server.url);
    expect(url).toBe(`${server.url}/qa`);
    expect(new Set(server.requests.map(({ method }) => method))).toEqual(new Set(['GET', 'HEAD']));
    expect(server.requests.every(({ body }) => body.length === 0)).toBe(true);
    expect(server.requests).toHaveLength(requests);
    expect(requests).toBeLessThanOrEqual(maxRequests({ maxConcurrency: 2, profile: PROFILE }));
    const outside = server.requests.filter(({ path }) => !path.startsWith('/qa/'));
    expect(outside.map(({ headers }) => headers.authorization)).toEqual(outside.map(() => undefined));
  });

  it.each(['/qa/services/v2', '/qa/services/v2/question.json', '/qa/portal/x', ''])(
    'finds the API from the path "%s"',
    async (path) => {
      const server = await startFakeUpstream(under('/qa'));
      expect((await examineAt(server.url + path)).url).toBe(`${server.url}/qa`);
    },
  );

  it('does everything without a credential that needs none, and says what could not be done', async () => {
    const server = await startFakeUpstream(healthy);
    const result = await examineAt(server.url, { authorization: undefined });
    expect(notDone(result)).toContain('compression: no list could be read; add a credential with --user');
    expect(result.steps.find(({ name }) => name === 'challenge')?.notDone).toBeUndefined();
    expect(server.requests.filter(({ user }) => user !== undefined && !user.startsWith('portico-doctor-'))).toEqual([]);
  });

  it('counts the requests that got no complete response', async () => {
    let count = 0;
    const server = await startFakeUpstream((request, response) => {
      count += 1;
      if (count < 10 || count % 5 !== 0) return healthy(request, response);
      response.destroy();
      return undefined;
    });
    const { findings } = await examineAt(server.url);
    expect(findings.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/^\d+ of \d+ requests got no complete response \(ECONNRESET\)\.$/),
    );
  });

  it('reports a redirect to a login page', async () => {
    const server = await startFakeUpstream((request, response) =>
      request.headers.authorization === undefined
        ? { status: 302, headers: { Location: '/login?next=x' } }
        : healthy(request, response),
    );
    const { findings } = await examineAt(server.url);
    expect(findings.map(({ text }) => text)).toContain('Without a credential, the server redirects to /login.');
  });

  // A redirect may point to another server, which must never receive the credential.
  it('never follows a redirect to another server', async () => {
    const other = await startFakeUpstream(healthy);
    const server = await startFakeUpstream(() => ({ status: 302, headers: { Location: `${other.url}/services/v2/` } }));
    await expect(examineAt(server.url)).rejects.toThrow('no API was found');
    expect(other.requests).toEqual([]);
  });

  it('ends early when it is interrupted, and keeps what it knows', async () => {
    const server = await startFakeUpstream(healthy);
    const interrupt = new AbortController();
    const result = await examineAt(server.url, {
      signal: interrupt.signal,
      onStep: (name) => void (name === 'errors' && interrupt.abort()),
    });
    expect(result.steps.find(({ name }) => name === 'challenge')?.facts).not.toEqual([]);
    expect(notDone(result)).toContain('concurrency: interrupted');
  });

  it('is interrupted while it watches an idle connection', async () => {
    const server = await startFakeUpstream(healthy);
    const interrupt = new AbortController();
    const result = await examineAt(server.url, {
      signal: interrupt.signal,
      idleMs: 60_000,
      onStep: (name) => void (name === 'keep-alive' && setTimeout(() => interrupt.abort(), 100)),
    });
    expect(notDone(result)).toContain('concurrency: interrupted');
  });
});

describe('a server without defects', () => {
  it('has no findings', async () => {
    const server = await startFakeUpstream(healthy);
    expect((await examineAt(server.url, { maxConcurrency: 1 })).findings).toEqual([]);
  });
});

describe('a server that cannot be examined', () => {
  it.each<[string, (socket: Socket) => void, RegExp, timeoutMs?: number]>([
    ['resets every connection', (socket) => socket.resetAndDestroy(), /closes the connection/],
    ['closes every connection', (socket) => socket.end(), /closes the connection/],
    ['sends garbage', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), /does not speak HTTP\/1\.1/],
    ['never responds', () => undefined, /does not respond in time/, 300],
    [
      'stops in the middle of a response',
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{'),
      /does not respond in time/,
      300,
    ],
    [
      'closes the connection in the middle of a response',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{'),
      /closes the connection in the middle of a response/,
    ],
  ])('is explained if it %s', async (_name, onRequest, reason, timeoutMs = 20_000) => {
    const url = await startRawServer((socket) => socket.once('data', () => onRequest(socket)));
    await expect(examineAt(url, { timeoutMs })).rejects.toThrow(reason);
  });

  it('is explained if nothing listens', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    await expect(examineAt(url)).rejects.toThrow('does not accept connections on this port');
  });

  it('is explained if it is a website without the API', async () => {
    const server = await startFakeUpstream(() => ({ status: 404, body: '<html></html>' }));
    await expect(examineAt(server.url)).rejects.toThrow(/no API was found.* gets 404; the base path is wrong/);
  });
});

describe('docs/doctor.md', () => {
  it('lists every probe in order', () => {
    const rows = tableBy(sectionOf(readText('docs/doctor.md'), 'Probes'), 'probe');
    expect(rows.map(({ probe }) => probe)).toEqual(PROBES.map(({ name }) => name));
  });
});

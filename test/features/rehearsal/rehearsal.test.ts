import { levelsIn } from '../../builders/levels-in.ts';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { basic } from '../../builders/call.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import {
  type FakeResponse,
  type FakeHandler,
  type FakeRequest,
  startFakeUpstream,
} from '../../builders/fake-upstream.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { startTestGateway, type TestGatewayOptions } from '../../builders/test-gateway.ts';
import { eventually, until } from '../../builders/until.ts';
import { runInProcess } from '../../cli/run-in-process.ts';

const LIST = '/services/v2/question.json';
const ALL = { share: 1, perSecond: 1000, concurrency: 100 };

const bytesOf = ({ json }: FakeResponse) => Buffer.from(JSON.stringify(json));
const JSON_AS = (coding: string) => ({ 'Content-Type': 'application/json', 'Content-Encoding': coding });
/** Returns whether a request has the form of staging, which always accepts JSON and these codings. */
const isBuilt = ({ headers }: FakeRequest) => headers['accept-encoding'] === 'gzip, deflate, br, zstd';

async function start(
  handler: FakeHandler = exampleResponse,
  rehearsal: object = ALL,
  more: Partial<TestGatewayOptions> = {},
) {
  const upstream = await startFakeUpstream(handler);
  const gateway = await startTestGateway({ upstream, real: true, ...more, config: { rehearsal, ...more.config } });
  const outcomes = async () => {
    const counts = Object.entries(await gateway.metrics('portico_rehearsals_total', 'outcome'));
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  };
  /** Waits until this many rehearsals have ended, and returns the outcomes. */
  const ended = async (count: number) => {
    let current: Record<string, number> = {};
    await eventually(async () => {
      current = await outcomes();
      return Object.values(current).reduce((all, one) => all + one, 0) >= count;
    });
    return current;
  };
  const entries = async () => {
    const snapshot = await gateway.gateway.services.records.snapshot();
    return snapshot.entries.filter(({ category }) => category === 'rehearsal');
  };
  const found = async () =>
    (await entries()).map(({ status, location, at, keyword }) => `${status} ${location} ${at} ${keyword}`).toSorted();
  return { gateway, upstream, outcomes, ended, entries, found };
}

/** Responds in another way to requests in the form of staging. */
const otherwise = (change: (usual: FakeResponse, request: FakeRequest) => FakeResponse): FakeHandler => {
  return (request) => (isBuilt(request) ? change(exampleResponse(request), request) : exampleResponse(request));
};

describe('a rehearsal in observe mode', () => {
  it('repeats a request in the form of staging after the response, and records nothing if the responses agree', async () => {
    const { gateway, upstream, ended, entries } = await start();
    const headers = { 'User-Agent': 'client', Cookie: 'theme=dark', 'X-Request-Id': 'client-id', Accept: '*/*' };
    const reply = await gateway.call(`${LIST}?page=1&pageSize=5`, { headers });
    expect(reply.status).toBe(200);
    expect(await ended(1)).toEqual({ same: 1 });
    const [client, repeated, ...others] = upstream.requests;
    expect(others).toEqual([]);
    expect(client?.headers).toMatchObject({ 'user-agent': 'client', cookie: 'theme=dark' });
    expect(repeated).toMatchObject({ method: 'GET', path: LIST, user: 'admin' });
    expect(Object.keys(repeated?.headers ?? {}).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'content-type',
      'host',
      'traceparent',
      'via',
      'x-request-id',
    ]);
    expect(repeated?.headers['x-request-id']).not.toBe('client-id');
    expect(await entries()).toEqual([]);
    expect(await gateway.metric('portico_http_requests_total{operation="listQuestions",status_class="2xx"}')).toBe(1);
    expect(await gateway.metric('portico_upstream_answers_total{operation="listQuestions",status_class="2xx"}')).toBe(
      1,
    );
  });

  it('sends the target that staging sends, which differs from the client’s', async () => {
    const { gateway, upstream, ended } = await start();
    await gateway.call(`${LIST}?sort=newest&page=1`);
    await ended(1);
    const staging = await startTestGateway({
      upstream,
      real: true,
      config: { mode: 'staging', authentication: { verifier: 'file' } },
      keepAccounts: true,
    });
    await staging.call(`${LIST}?sort=newest&page=1`);
    const [, repeated, sent] = upstream.requests.filter(({ path }) => path === LIST);
    expect(repeated?.target).toBe(sent?.target);
    const namesOf = (request: FakeRequest | undefined) => Object.keys(request?.headers ?? {}).toSorted();
    expect(namesOf(repeated)).toEqual(namesOf(sent));
  });

  it.each<[string, FakeHandler, readonly string[]]>([
    ['another status', otherwise(() => ({ status: 404, json: {} })), ['200 status  status-404']],
    ['another length', otherwise(() => ({ json: { list: [] } })), ['200 body  length']],
    [
      'other headers',
      otherwise((usual) => ({ ...usual, headers: { 'X-Variant': 'b', 'X-Added': '1' } })),
      ['200 header x-added header-added', '200 header x-variant header-added'],
    ],
    [
      'a wrong coding',
      otherwise((usual) => ({ headers: JSON_AS('gzip'), body: bytesOf(usual) })),
      ['200 header content-encoding coding-mislabelled'],
    ],
    [
      'a coding that nobody asked for',
      otherwise((usual) => ({ headers: JSON_AS('compress'), body: bytesOf(usual) })),
      ['200 header content-encoding coding-unsupported'],
    ],
    [
      'a cookie for each request',
      (request) => ({ ...exampleResponse(request), headers: { 'Set-Cookie': 'sid=secretvalue; Path=/' } }),
      ['200 header set-cookie/sid cookie'],
    ],
  ])('records %s', async (_name, handler, expected) => {
    const { gateway, ended, found, entries } = await start(handler);
    await gateway.call(LIST, { headers: { 'User-Agent': 'client' } });
    expect(await ended(1)).toEqual({ different: 1 });
    expect(await found()).toEqual(expected);
    expect(await entries()).toMatchObject(expected.map(() => ({ operation: 'listQuestions', count: 1, callers: 1 })));
  });

  it('records what depends on a header that only the client sends', async () => {
    const byAgent: FakeHandler = (request) => {
      const isOld = request.headers['user-agent'] === 'old client';
      const usual = exampleResponse(request);
      return isOld
        ? { ...usual, headers: { 'X-Form': 'old', 'X-Old': '1' } }
        : { ...usual, headers: { 'X-Form': 'new' } };
    };
    const { gateway, ended, found } = await start(byAgent);
    await gateway.call(LIST, { headers: { 'User-Agent': 'old client' } });
    expect(await ended(1)).toEqual({ different: 1 });
    expect(await found()).toEqual(['200 header x-form header-value', '200 header x-old header-missing']);
  });

  it('compares lengths without the content coding, and ignores a coding that can be removed', async () => {
    const { gateway, ended, found } = await start(
      otherwise((usual) => ({ headers: JSON_AS('gzip'), body: gzipSync(bytesOf(usual)) })),
    );
    await gateway.call(LIST);
    expect(await ended(1)).toEqual({ same: 1 });
    expect(await found()).toEqual([]);
  });

  it.each<[string, FakeHandler]>([
    ['grows with each request', (request) => growing(request)],
    [
      'has a header with a new value each time',
      (request) => ({ ...exampleResponse(request), headers: { 'X-Count': String((count += 1)) } }),
    ],
    [
      'changes once between two requests',
      (request) =>
        isBuilt(request) || isChanged ? ((isChanged = true), { json: { list: [] } }) : exampleResponse(request),
    ],
    [
      'differs between two servers that take turns',
      (request) => ({ ...exampleResponse(request), headers: { 'X-Node': String((count += 1) % 2) } }),
    ],
  ])('records nothing about a page that %s', async (_name, handler) => {
    count = 0;
    isChanged = false;
    const { gateway, ended, found } = await start(handler);
    await gateway.call(LIST);
    expect(await ended(1)).toEqual({ same: 1 });
    expect(await found()).toEqual([]);
  });

  it('does not compare headers that are configured to be ignored', async () => {
    const { gateway, ended } = await start(
      otherwise((usual) => ({ ...usual, headers: { 'X-Variant': 'b' } })),
      { ...ALL, ignoreHeaders: ['X-VARIANT'] },
    );
    await gateway.call(LIST);
    expect(await ended(1)).toEqual({ same: 1 });
  });
});

let count = 0;
let isChanged = false;
const growing = (request: FakeRequest): FakeResponse => {
  count += 1;
  return { json: { ...(exampleResponse(request).json as object), more: 'x'.repeat(count) } };
};

describe('the session of a rehearsal', () => {
  /** Starts a session for each request without the cookie, or for all requests. */
  const starting = (keeps: boolean): FakeHandler => {
    let sessions = 0;
    return (request) => {
      const usual = exampleResponse(request);
      if (keeps && request.headers.cookie?.includes('JSESSIONID=') === true) return usual;
      sessions += 1;
      return { ...usual, headers: { 'Set-Cookie': `JSESSIONID=session-secret-${sessions}; Path=/` } };
    };
  };

  it('is kept for each caller, as in staging, and is no difference', async () => {
    const { gateway, upstream, ended, found } = await start(starting(true));
    for (const user of ['admin', 'alice']) await gateway.call(LIST, { user });
    expect(await ended(2)).toEqual({ same: 2 });
    expect(await found()).toEqual([]);
    for (const { user, headers } of upstream.requests.filter((one) => isBuilt(one) && one.headers.cookie !== undefined))
      expect([user, headers.cookie]).toEqual([user, expect.stringMatching(/^JSESSIONID=session-secret-\d$/)]);
  });

  it('is a difference if the server replaces it in each response', async () => {
    const { gateway, ended, found } = await start(starting(false));
    await gateway.call(LIST, { headers: { Cookie: 'JSESSIONID=mine' } });
    expect(await ended(1)).toEqual({ different: 1 });
    expect(await found()).toEqual(['200 header set-cookie/JSESSIONID session-replaced']);
  });

  it('is a difference for anonymous callers, for whom none is kept', async () => {
    const { gateway, ended, found } = await start(starting(true), ALL, {
      config: { authentication: { anonymous: 'allow' } },
    });
    await gateway.call(LIST, { user: null });
    expect(await ended(1)).toEqual({ different: 1 });
    expect(await found()).toEqual(['200 header set-cookie/JSESSIONID session-anonymous']);
  });

  it('of the client is never sent a second time', async () => {
    const { gateway, upstream, ended, found } = await start((request) =>
      request.headers.cookie === undefined ? { status: 403, json: {} } : exampleResponse(request),
    );
    await gateway.call(LIST, { headers: { Cookie: 'login=mine' } });
    expect(await ended(1)).toEqual({ different: 1 });
    expect(upstream.requests.filter(({ headers }) => headers.cookie !== undefined)).toHaveLength(1);
    expect(await found()).toEqual(['200 status  status-403']);
  });
});

describe('requests that are not rehearsed', () => {
  const sentBy = async (context: Awaited<ReturnType<typeof start>>, calls: () => Promise<unknown>) => {
    await calls();
    // The rehearsal of this request would follow those of the earlier ones.
    await context.gateway.call('/services/v2/idea.json');
    await context.ended(1 + (await skipped(context)));
    return context.upstream.requests.filter(({ path }) => path !== '/services/v2/idea.json');
  };
  const skipped = async ({ outcomes }: Awaited<ReturnType<typeof start>>) => (await outcomes())['skipped'] ?? 0;

  it.each([
    ['a write', { method: 'PUT' }, '/services/v2/node/5/unmarkfavorite.json'],
    ['HEAD', { method: 'HEAD' }, LIST],
    ['an undocumented path', {}, '/services/v2/odd.json'],
    ['a request that staging refuses', {}, `${LIST}?pageSize=0`],
    ['a request with an unknown parameter', {}, `${LIST}?odd=1`],
  ])('include %s', async (_name, call, target) => {
    const context = await start();
    const sent = await sentBy(context, () => context.gateway.call(target, call));
    expect(sent).toHaveLength(1);
  });

  it.each([401, 429, 500, 503, 304, 206])('include those with status %i', async (status) => {
    const context = await start((request) => (request.path === LIST ? { status } : exampleResponse(request)));
    expect(await sentBy(context, () => context.gateway.call(LIST))).toHaveLength(1);
  });

  it('include all if the share is 0 or if the random number is not below it', async () => {
    const off = await start(exampleResponse, {});
    await off.gateway.call(LIST);
    expect(off.upstream.requests).toHaveLength(1);
    expect((await off.gateway.admin('/metrics')).text).not.toContain('portico_rehearsals_total');

    let next = 0;
    const numbers = [0.3, 0.29, 0.9, 0];
    const some = await start(exampleResponse, { ...ALL, share: 0.3 }, { random: () => numbers[(next += 1) - 1] ?? 0 });
    for (let at = 0; at < 4; at += 1) await some.gateway.call(`${LIST}?q=word${at}`);
    expect(await some.ended(2)).toEqual({ same: 2 });
    const built = some.upstream.requests.filter(isBuilt).map(({ query }) => query.get('q'));
    expect(built).toEqual(['word1', 'word3']);
  });

  it('include all in staging and strict mode, and a warning says so', async () => {
    const { gateway, upstream } = await start(exampleResponse, ALL, {
      config: { mode: 'staging', cache: { enabled: false }, authentication: { verifier: 'file' } },
      keepAccounts: true,
    });
    expect((await gateway.call(LIST)).status).toBe(200);
    expect((await gateway.call(LIST)).status).toBe(200);
    expect(upstream.requests.filter(({ path }) => path === LIST)).toHaveLength(2);
    expect((await gateway.admin('/metrics')).text).toContain('portico_rehearsals_total{outcome="same"} 0');
    expect(gateway.log.join('')).toContain('has no effect: requests are rehearsed only in observe mode');
  });
});

describe('the limits of rehearsals', () => {
  /** Holds the responses to requests in the form of staging until they are released. */
  const holding = () => {
    const held: (() => void)[] = [];
    const handler: FakeHandler = async (request) => {
      if (isBuilt(request)) await new Promise<void>((resolve) => held.push(resolve));
      return exampleResponse(request);
    };
    return { held, handler };
  };

  it('are a number per second and a number at the same time', async () => {
    const clock = createTestClock();
    const { held, handler } = holding();
    const { gateway, ended, outcomes } = await start(handler, { share: 1, perSecond: 3, concurrency: 2 }, { clock });
    const call = (word: string) => gateway.call(`${LIST}?q=${word}`);
    for (const word of ['a', 'b']) await call(word);
    await until(() => held.length === 2);
    await call('c');
    await eventually(async () => (await outcomes())['skipped'] === 1);
    for (const release of held.splice(0)) release();
    expect(await ended(3)).toEqual({ same: 2, skipped: 1 });
    await call('d');
    await until(() => held.length === 1);
    held.pop()?.();
    expect(await ended(4)).toEqual({ same: 3, skipped: 1 });
    await call('e');
    expect(await ended(5)).toEqual({ same: 3, skipped: 2 });
    clock.advance(0.334);
    await call('f');
    await until(() => held.length === 1);
    held.pop()?.();
    expect(await ended(6)).toEqual({ same: 4, skipped: 2 });
  });

  it('never delay the client, and its other requests get responses meanwhile', async () => {
    const { held, handler } = holding();
    const { gateway, ended } = await start(handler);
    expect((await gateway.call(LIST)).status).toBe(200);
    await until(() => held.length === 1);
    expect((await gateway.call('/services/v2/idea.json')).status).toBe(200);
    await until(() => held.length === 2);
    for (const release of held) release();
    expect(await ended(2)).toEqual({ same: 2 });
  });

  it('include the free slots of the upstream', async () => {
    const held: (() => void)[] = [];
    const { gateway, upstream, ended } = await start(
      async (request) => {
        if (request.query.get('q') === 'slow') await new Promise<void>((resolve) => held.push(resolve));
        return exampleResponse(request);
      },
      ALL,
      { config: { upstream: { concurrency: 1 } } },
    );
    const slow = gateway.call(`${LIST}?q=slow`);
    await until(() => held.length === 1);
    await gateway.call(`${LIST}?q=fast`);
    expect(await ended(1)).toEqual({ skipped: 1 });
    held.pop()?.();
    await slow;
    await until(() => held.length === 1);
    held.pop()?.();
    expect(await ended(2)).toEqual({ skipped: 1, same: 1 });
    expect(upstream.requests).toHaveLength(3);
  });

  it('include the circuit, and failed rehearsals do not count for it', async () => {
    let breaks: 'client' | 'rehearsal' | undefined = 'rehearsal';
    const { gateway, ended } = await start(
      (request, response) => {
        if (breaks === (isBuilt(request) ? 'rehearsal' : 'client')) return void response.destroy();
        return exampleResponse(request);
      },
      ALL,
      { config: { upstream: { circuit: { failures: 2, openSeconds: 60 } } } },
    );
    for (let at = 0; at < 4; at += 1) await gateway.call(`${LIST}?q=word${at}`);
    expect(await ended(4)).toEqual({ failed: 4 });
    expect(await gateway.metric('portico_upstream_failures_total{kind="reset"}')).toBe(0);
    breaks = undefined;
    await gateway.call(LIST);
    expect(await ended(5)).toEqual({ failed: 4, same: 1 });
    breaks = 'client';
    for (const path of ['question', 'idea', 'article']) await gateway.call(`/services/v2/${path}.json`);
    breaks = undefined;
    await gateway.call(LIST);
    expect(await ended(6)).toEqual({ failed: 4, same: 1, skipped: 1 });
  });

  it('include the timeouts and the body limit that are configured', async () => {
    const { gateway, ended } = await start(
      (request, response) => {
        if (!isBuilt(request)) return exampleResponse(request);
        if (request.query.get('q') === 'slow')
          return void response.writeHead(200, { 'Content-Length': '5' }).write('x');
        return { body: 'x'.repeat(2_000_000) };
      },
      ALL,
      { config: { upstream: { totalTimeoutMs: 100, maxResponseBytes: 1_048_576 } } },
    );
    await gateway.call(`${LIST}?q=slow`);
    await gateway.call(`${LIST}?q=large`);
    expect(await ended(2)).toEqual({ failed: 2 });
  });

  it('change with a reload', async () => {
    const { gateway, upstream, ended } = await start(exampleResponse, {});
    await gateway.call(LIST);
    await gateway.reload({ config: { rehearsal: ALL } });
    await gateway.call(LIST);
    expect(await ended(1)).toEqual({ same: 1 });
    await gateway.reload({ config: {} });
    await gateway.call(LIST);
    expect(upstream.requests).toHaveLength(4);
  });

  it('begin only when the client has the whole response', async () => {
    const large = { json: { list: [], more: 'x'.repeat(7_000_000) } };
    const { gateway, upstream, ended } = await start((request) =>
      request.query.get('q') === 'large' ? large : exampleResponse(request),
    );
    const { port } = new URL(gateway.url);
    const slow = httpRequest({ port, path: `${LIST}?q=large`, headers: { authorization: basic('admin') } }).end();
    const [response] = (await once(slow, 'response')) as [IncomingMessage];
    await gateway.call(`${LIST}?q=small`);
    expect(await ended(1)).toEqual({ same: 1 });
    expect(upstream.requests.filter(isBuilt).map(({ query }) => query.get('q'))).toEqual(['small']);
    response.resume();
    await once(response, 'end');
    expect(await ended(2)).toEqual({ same: 2 });
  });

  it('apply to the upstream and the settings that a reload brings', async () => {
    const { gateway, upstream, ended } = await start();
    const other = await startFakeUpstream(exampleResponse);
    await gateway.call(LIST);
    await ended(1);
    const config = { rehearsal: ALL, publicOrigin: 'https://qa.example.org' };
    await gateway.reload({ upstream: other.url, config });
    await gateway.call(LIST);
    expect(await ended(2)).toEqual({ same: 2 });
    expect([upstream.requests.length, other.requests.length]).toEqual([2, 2]);
    expect(other.requests[1]?.headers).toMatchObject({ 'x-forwarded-host': 'qa.example.org' });
    expect(other.requests.some(isBuilt)).toBe(true);
  });

  it('end rehearsals in progress when the gateway closes', async () => {
    const { held, handler } = holding();
    const { gateway } = await start(handler);
    await gateway.call(LIST);
    await until(() => held.length === 1);
    await gateway.close();
    for (const release of held) release();
  });
});

describe('what a rehearsal records', () => {
  const secrets = ['secretvalue', 'cookievalue', 'headervalue', 'bodyvalue', 'admin:admin', btoa('admin:admin')];
  const handler: FakeHandler = otherwise(() => ({
    status: 200,
    headers: { 'Set-Cookie': 'sid=secretvalue; Path=/', 'X-Variant': 'headervalue', 'Content-Type': 'text/plain' },
    body: 'bodyvalue',
  }));

  it('contains no values from messages, in no place', async () => {
    const { gateway, ended, entries, found } = await start(handler);
    await gateway.call(LIST);
    await ended(1);
    expect(await found()).toEqual([
      '200 body  length',
      '200 header content-type header-value',
      '200 header set-cookie/sid cookie',
      '200 header x-variant header-added',
    ]);
    await gateway.call(LIST, { headers: { Cookie: 'theme=cookievalue' } });
    await ended(2);
    const { text } = await gateway.admin('/metrics');
    const all = [JSON.stringify(await entries()), text, ...gateway.log].join('\n');
    for (const secret of secrets) expect(all).not.toContain(secret);
  });

  it('is advisory, has hints, can be accepted, is in every report, and does not keep a check from being enforced', async () => {
    const folder = tempFolder();
    const [file, baseline] = [join(folder, 'ledger.db'), join(folder, 'baseline.yaml')];
    writeFileSync(baseline, 'accepted: []\n');
    const token = 'a-token-for-these-tests';
    const config = {
      ledger: { file },
      contract: { baseline },
      adminToken: token,
      levels: { promote: { minAnswers: 1 } },
    };
    const { gateway, ended, entries } = await start(handler, ALL, { config });
    const counted = (accepted: boolean) =>
      gateway.metric(
        `portico_contract_violations_total{operation="listQuestions",direction="response",category="rehearsal",accepted="${accepted}"}`,
      );
    await gateway.call(LIST);
    await ended(1);
    expect(await counted(false)).toBe(4);
    expect(await gateway.metric('portico_upstream_answers_total{operation="listQuestions",status_class="2xx"}')).toBe(
      1,
    );
    const { services } = gateway.gateway;
    const rows = levelsIn(gateway.gateway).ladder.rows(await services.records.snapshot());
    const row = rows.find(({ operation, check }) => operation === 'listQuestions' && check === 'responses');
    expect(row).toMatchObject({ counts: { passed: 1, reported: 0, refused: 0 }, next: { kind: 'ready' } });
    const shown = await entries();
    expect(shown.every(({ message }) => message.includes('staging'))).toBe(true);
    expect(shown.find(({ keyword }) => keyword === 'cookie')?.suggestion).toMatch(/upstream\.sessionCookies/);
    for (const { fingerprint } of shown) {
      const accepted = await gateway.admin(`/console/api/violations/${fingerprint}/accept`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body: { reason: 'known', owner: 'team q' },
      });
      expect(accepted.status).toBe(200);
    }
    await gateway.call(LIST);
    await ended(2);
    expect([await counted(false), await counted(true)]).toEqual([4, 4]);
    await gateway.close();
    for (const format of ['table', 'markdown', 'html', 'json', 'junit', 'sarif']) {
      const report = await runInProcess(['report', '--ledger', file, '--format', format, '--fail-on', 'new']);
      expect([format, report.code]).toEqual([format, 0]);
      expect(report.out).toMatch(/header-added|additional header/);
      expect(report.out).toMatch(/rehearsal|Different in staging/);
    }
    expect((await runInProcess(['report', '--ledger', file, '--fail-on', 'rehearsal'])).code).toBe(1);
    const details = await runInProcess(['report', '--ledger', file, shown[0]?.fingerprint ?? '']);
    expect(details.out).toMatch(/category +rehearsal: Different in staging/);
    expect(details.out).toContain('To fix it, change the server, so that it responds to the request of staging');
  });
});

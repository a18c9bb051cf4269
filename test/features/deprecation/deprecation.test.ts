import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { settingWarnings } from '../../../src/engine/config/setting-warnings.ts';
import { loadRoles } from '../../../src/engine/permissions/roles-file.ts';
import { packageRoot } from '../../../src/lib/package-root.ts';
import { readSettings } from '../../../src/portico-settings.ts';
import { deprecation } from '../../../src/features/deprecation/deprecation.ts';
import type { ClientResponse } from '../../builders/call.ts';
import { contract } from '../../builders/compiled-contract.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { sharedBy, startFleet } from '../../builders/fleet.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { startRedisServer } from '../../builders/redis-server.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { createTestClock, type TestClock } from '../../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { eventually, until } from '../../builders/until.ts';

const ROLES = readFileSync(join(packageRoot, 'config', 'roles.yaml'), 'utf8');
const TOKEN = 'the-admin-token';
const bearer = { Authorization: `Bearer ${TOKEN}` };
const IDEAS = '/services/v2/idea.json';
const QUESTIONS = '/services/v2/question.json';

// The test clock starts at 2026-05-04T10:30:15.250Z.
const ENTRY = {
  operations: ['listIdeas'],
  since: '2026-01-01',
  sunset: '2026-06-01T12:00Z',
  link: 'https://qa.example.org/deprecated',
  successor: '/v3/ideas',
};
const NOW = { from: '2026-05-04T10:30Z', to: '2026-05-04T10:40Z' };
const LATER = { from: '2026-05-05T10:00Z', to: '2026-05-05T11:00Z' };

let fake: FakeUpstream;
let clock: TestClock;
beforeEach(async () => {
  fake = await startFakeUpstream(exampleResponse);
  clock = createTestClock();
});

type Entry = Readonly<Record<string, unknown>>;

const start = (entries: readonly Entry[], more: object = {}, config: object = {}): Promise<TestGateway> =>
  startTestGateway({
    upstream: fake,
    clock,
    env: { PORTICO_ADMIN_TOKEN: TOKEN },
    config: { auditTrail: { file: ':memory:' }, ...config, deprecation: { file: ':memory:', entries, ...more } },
  });

interface Overview {
  readonly entries: readonly {
    readonly state: string;
    readonly requests: number;
    readonly callers: number;
    readonly brownouts: readonly { readonly id: string; readonly state: string; readonly decision?: object }[];
  }[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly found: number;
  readonly removed: number;
}

const overview = async (gateway: TestGateway, query = ''): Promise<Overview> =>
  (await gateway.admin(`/deprecation${query}`, { headers: bearer })).json as unknown as Overview;
const post = (gateway: TestGateway, path: string, body: object, headers: Record<string, string> = bearer) =>
  gateway.admin(`/deprecation/${path}`, { method: 'POST', headers, body });
const tagIn = (response: ClientResponse | undefined) =>
  (response?.json as { caller?: string } | undefined)?.caller ?? '';
const firstBrownout = async (gateway: TestGateway) => (await overview(gateway)).entries[0]?.brownouts[0]?.id ?? '';
const announced = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) => ({
  deprecation: headers['deprecation'],
  sunset: headers['sunset'],
  link: headers['link'],
  brownout: headers['portico-brownout'],
});
const refusals = (outcome: string, reason = 'brownout') =>
  `portico_deprecated_refusals_total{operation="listIdeas",reason="${reason}",outcome="${outcome}"}`;
/** Sends a request, and waits until everything about it has been recorded. */
const call = async (gateway: TestGateway, target: string, options: Parameters<TestGateway['call']>[1] = {}) => {
  const response = await gateway.call(target, options);
  await gateway.lineOf(String(response.headers['x-request-id']));
  return response;
};

describe('the announcement of a deprecation', () => {
  it('is in each response of the operation: from the upstream, from the cache, unchanged, and refused', async () => {
    const gateway = await start([{ ...ENTRY, brownouts: [LATER] }]);
    const expected = {
      deprecation: `@${Date.UTC(2026, 0, 1) / 1000}`,
      sunset: 'Mon, 01 Jun 2026 12:00:00 GMT',
      link: '<https://qa.example.org/deprecated>; rel="deprecation"; type="text/html", </v3/ideas>; rel="successor-version"',
      brownout: '2026-05-05T10:00:00Z/2026-05-05T11:00:00Z',
    };
    const miss = await gateway.call(IDEAS);
    const hit = await gateway.call(IDEAS);
    const same = await gateway.call(IDEAS, { headers: { 'If-None-Match': String(hit.headers['etag']) } });
    const invalid = await gateway.call(`${IDEAS}?page=x`);
    const stranger = await gateway.call(IDEAS, { user: 'alice', password: 'wrong' });
    const replies = [miss, hit, same, invalid, stranger];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 304, 400, 401]);
    expect(hit.headers['cache-status']).toContain('hit');
    for (const reply of replies) expect(announced(reply)).toEqual(expected);
    expect(announced(await gateway.call(QUESTIONS))).toEqual({});
  });

  it('replaces that of the upstream, whose links stay, also in stored responses', async () => {
    const own = { Deprecation: '@1', SUNSET: 'Thu, 01 Jan 2009 00:00:00 GMT', Link: '</next>; rel="next"' };
    fake.handler = (request) => {
      const response = exampleResponse(request);
      return { ...response, headers: { ...response.headers, ...own } };
    };
    const gateway = await start([ENTRY]);
    for (const reply of [await gateway.call(IDEAS), await gateway.call(IDEAS)]) {
      const values = (name: string) =>
        reply.rawHeaders.filter((_, index) => index % 2 === 1 && reply.rawHeaders[index - 1]?.toLowerCase() === name);
      expect(values('deprecation')).toEqual([`@${Date.UTC(2026, 0, 1) / 1000}`]);
      expect(values('sunset')).toEqual(['Mon, 01 Jun 2026 12:00:00 GMT']);
      expect(values('link').join()).toMatch(/rel="next".*rel="deprecation"/);
    }
    const { headers } = await gateway.call(QUESTIONS);
    expect([headers['deprecation'], headers['link']]).toEqual(['@1', '</next>; rel="next"']);
  });

  it('of a parameter is only in responses to requests that use it', async () => {
    const gateway = await start([{ operations: ['listIdeas'], parameter: 'sort', since: '2026-02-01' }]);
    expect(announced(await gateway.call(IDEAS))).toEqual({});
    expect(announced(await gateway.call(`${IDEAS}?sort=newest`))).toEqual({
      deprecation: `@${Date.UTC(2026, 1, 1) / 1000}`,
    });
  });

  it('of several entries states the earliest instants and every link', async () => {
    const other = { operations: ['listIdeas'], parameter: 'sort', since: '2025-12-01', sunset: '2027-01-01' };
    const gateway = await start([ENTRY, { ...other, successor: 'https://qa.example.org/v3/sorted' }]);
    expect(announced(await gateway.call(`${IDEAS}?sort=newest`))).toEqual({
      deprecation: `@${Date.UTC(2025, 11, 1) / 1000}`,
      sunset: 'Mon, 01 Jun 2026 12:00:00 GMT',
      link: expect.stringMatching(/deprecated>.*<\/v3\/ideas>.*<https:\/\/qa\.example\.org\/v3\/sorted>/) as string,
    });
  });
});

describe('a brown-out', () => {
  it('refuses requests with its end and the successor, without the upstream and the cache, and only while it lasts', async () => {
    const gateway = await start([
      { ...ENTRY, brownouts: [{ ...NOW, from: '2026-05-04T10:31Z' }], note: 'Ask the API team.' },
    ]);
    expect((await gateway.call(IDEAS)).status).toBe(200);
    clock.advance(45);
    const asked = fake.requests.length;
    const refused = await call(gateway, IDEAS, { headers: { 'X-Request-Id': 'brownout-1' } });
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('540');
    expect(refused.headers['cache-status']).toBeUndefined();
    expect(announced(refused)).toMatchObject({ brownout: '2026-05-04T10:31:00Z/2026-05-04T10:40:00Z' });
    expect(refused.json).toMatchObject({
      code: 'deprecated_brownout',
      error: 'This operation is deprecated and paused until 2026-05-04T10:40:00Z, as announced. Use /v3/ideas instead.',
      details: [{ message: 'Ask the API team.', suggestion: '/v3/ideas' }],
    });
    expect(fake.requests).toHaveLength(asked);
    expect((await gateway.call(QUESTIONS)).status).toBe(200);
    expect(await gateway.metric(refusals('refused'))).toBe(1);
    expect(await gateway.metric('portico_deprecated_requests_total{operation="listIdeas"}')).toBe(2);
    clock.advance(540);
    expect((await gateway.call(IDEAS)).status).toBe(200);
    expect(announced(await gateway.call(IDEAS))['brownout']).toBeUndefined();
  });

  it('does not spend the error budget', async () => {
    const gateway = await start([{ ...ENTRY, brownouts: [NOW] }]);
    expect((await call(gateway, IDEAS)).status).toBe(503);
    const { text } = await gateway.admin('/metrics');
    const spent = [...text.matchAll(/^portico_error_budget_spent_total\{operation="listIdeas"\} (\d+)$/gm)];
    expect(spent.map(([, value]) => value)).toEqual(['0']);
  });

  it('of a parameter refuses only requests that use it', async () => {
    const gateway = await start([
      { operations: ['listIdeas'], parameter: 'sort', since: '2026-02-01', brownouts: [NOW] },
    ]);
    expect((await gateway.call(IDEAS)).status).toBe(200);
    const refused = await gateway.call(`${IDEAS}?sort=newest`);
    expect(refused.json).toMatchObject({
      code: 'deprecated_brownout',
      error: expect.stringContaining('The parameter sort of this operation') as string,
      details: [{ in: 'query', name: 'sort' }],
    });
  });

  it('states when it ends in a metric, also if only a parameter does', async () => {
    const parameter = { ...ENTRY, operations: ['listQuestions'], parameter: 'sort', sunset: '2026-07-01' };
    const gateway = await start([ENTRY, parameter]);
    const found = await gateway.metrics('portico_deprecation_sunset_timestamp_seconds', 'operation');
    expect(found).toEqual({
      listIdeas: Date.parse('2026-06-01T12:00Z') / 1000,
      listQuestions: Date.parse('2026-07-01') / 1000,
    });
  });

  it('does not count as reported what is refused for another reason', async () => {
    const gateway = await start([{ ...ENTRY, brownouts: [NOW] }]);
    expect((await call(gateway, IDEAS, { user: 'alice', password: 'wrong' })).status).toBe(401);
    expect(await gateway.metric(refusals('reported'))).toBe(0);
  });

  it('that is rehearsed with dryRun is only counted', async () => {
    const gateway = await start([{ ...ENTRY, brownouts: [NOW], dryRun: true }]);
    expect((await call(gateway, IDEAS)).status).toBe(200);
    expect(await gateway.metric(refusals('reported'))).toBe(1);
    expect(await gateway.metric(refusals('refused'))).toBe(0);
  });

  it('is noted on each page of the console only while it refuses requests', async () => {
    const notice = async (entry: Entry) => {
      const { json } = await (await start([entry])).admin('/console/api/status', { headers: bearer });
      const { pages } = json as unknown as {
        readonly pages: readonly { readonly name: string; readonly notice?: string }[];
      };
      return pages.find(({ name }) => name === 'deprecation')?.notice;
    };
    expect(await notice({ ...ENTRY, brownouts: [NOW] })).toBe('brown-out');
    expect(await notice({ ...ENTRY, brownouts: [NOW], dryRun: true })).toBeUndefined();
    expect(await notice({ ...ENTRY, brownouts: [LATER] })).toBeUndefined();
  });

  it('with dryRun is also only counted if the operation has other brown-outs', async () => {
    const gateway = await start([
      { ...ENTRY, brownouts: [NOW], dryRun: true },
      { ...ENTRY, brownouts: [LATER] },
    ]);
    expect((await call(gateway, IDEAS)).status).toBe(200);
    expect(await gateway.metric(refusals('reported'))).toBe(1);
    const steps = await gateway.gateway.explain({ method: 'GET', target: IDEAS, as: 'admin' });
    expect(steps.map(({ text }) => text)).toContain('would be refused now (brownout), but is only counted');
  });

  it('is foretold by explain, which counts nothing', async () => {
    const gateway = await start([{ ...ENTRY, brownouts: [NOW] }]);
    const steps = await gateway.gateway.explain({ method: 'GET', target: IDEAS, as: 'admin' });
    expect(steps).toContainEqual({
      name: 'deprecation',
      text: 'listIdeas: since 2026-01-01T00:00:00Z, sunset 2026-06-01T12:00:00Z, 1 brown-out, successor /v3/ideas',
    });
    expect(steps.at(-1)?.text).toMatch(/^503 deprecated_brownout: .* Use \/v3\/ideas instead\.$/);
    expect(await gateway.metric(refusals('refused'))).toBe(0);
    expect((await overview(gateway)).rows).toEqual([]);
    expect((await gateway.call(IDEAS)).status).toBe(503);
  });
});

describe('an operator', () => {
  it('revokes a brown-out with a reason, and restores it, both in the audit trail', async () => {
    const gateway = await start([{ ...ENTRY, brownouts: [NOW] }]);
    const brownout = await firstBrownout(gateway);
    expect((await gateway.call(IDEAS)).status).toBe(503);
    const revoked = await post(gateway, 'revoke', { brownout, reason: 'INC-17: the successor is down', by: 'ann' });
    expect(revoked.json).toMatchObject({ brownout: { id: brownout, state: 'revoked' }, stored: true });
    const served = await gateway.call(IDEAS);
    expect([served.status, announced(served)['brownout']]).toEqual([200, undefined]);
    expect((await overview(gateway)).entries[0]?.brownouts).toMatchObject([
      { state: 'revoked', decision: { reason: 'INC-17: the successor is down', by: 'ann', from: '127.0.0.1' } },
    ]);
    await post(gateway, 'restore', { brownout, reason: 'INC-17 is over' });
    expect((await gateway.call(IDEAS)).status).toBe(503);
    const { json } = await gateway.admin('/audit', { headers: bearer });
    const { entries } = json as unknown as { entries: readonly object[] };
    expect(entries.slice(0, 2)).toMatchObject([
      { action: 'brown-out restored', outcome: 'done', after: { revoked: false, reason: 'INC-17 is over' } },
      {
        action: 'brown-out revoked',
        by: 'ann',
        subject: { brownout, about: 'listIdeas' },
        before: { revoked: false },
        after: { revoked: true, reason: 'INC-17: the successor is down' },
      },
    ]);
  });

  it.each([
    [{ brownout: 'other', reason: 'INC-17' }, 'brownout', /id of a configured brown-out/],
    [{ reason: ' ' }, 'reason', /Give the reason/],
    [{ reason: 'x'.repeat(501) }, 'reason', /at most 500/],
    [{ reason: 'password=hunter2secret' }, 'reason', /must not contain a credential/],
    [{ reason: 'INC-17', by: 'a\nb' }, 'by', /one line/],
  ])('is told what is wrong with a request: %j', async (body, field, message) => {
    const gateway = await start([{ ...ENTRY, brownouts: [NOW] }]);
    const refused = await post(gateway, 'revoke', { brownout: await firstBrownout(gateway), ...body });
    expect([refused.status, refused.json]).toMatchObject([
      400,
      { field, error: expect.stringMatching(message) as string },
    ]);
    expect((await gateway.call(IDEAS)).status).toBe(503);
  });

  it('cannot change anything on the console if no token is configured', async () => {
    const gateway = await startTestGateway({
      upstream: fake,
      clock,
      config: { deprecation: { file: ':memory:', entries: [{ ...ENTRY, brownouts: [NOW] }] } },
    });
    const brownout = await firstBrownout(gateway);
    const refused = await gateway.admin('/console/api/deprecation/revoke', {
      method: 'POST',
      body: { brownout, reason: 'INC-17' },
    });
    expect([refused.status, (await gateway.call(IDEAS)).status]).toEqual([403, 503]);
  });

  it('must sign in, to read as well as to change', async () => {
    const gateway = await start([{ ...ENTRY, brownouts: [NOW] }]);
    const brownout = await firstBrownout(gateway);
    expect((await post(gateway, 'revoke', { brownout, reason: 'INC-17' }, {})).status).toBe(401);
    expect((await gateway.admin('/deprecation')).status).toBe(401);
    expect((await gateway.call(IDEAS)).status).toBe(503);
  });
});

describe('after the sunset', () => {
  it('requests are refused with 410 and the successor, but only with refuseAfterSunset', async () => {
    const sunset = '2026-05-04T10:31Z';
    const gateway = await start([
      { ...ENTRY, sunset, refuseAfterSunset: true, brownouts: [NOW] },
      { operations: ['listArticles'], since: '2026-01-01', sunset },
    ]);
    await post(gateway, 'revoke', { brownout: await firstBrownout(gateway), reason: 'INC-17' });
    expect((await gateway.call(IDEAS)).status).toBe(200);
    clock.advance(45);
    const asked = fake.requests.length;
    const refused = await call(gateway, IDEAS);
    expect(refused.status).toBe(410);
    expect(refused.headers['retry-after']).toBeUndefined();
    expect(refused.headers['link']).toContain('</v3/ideas>; rel="successor-version"');
    expect(refused.json).toMatchObject({
      code: 'gone',
      error: 'This operation is no longer available. Use /v3/ideas instead.',
      details: [{ suggestion: '/v3/ideas' }],
    });
    expect(fake.requests).toHaveLength(asked);
    expect(await gateway.metric(refusals('refused', 'sunset'))).toBe(1);
    expect((await call(gateway, '/services/v2/article.json')).status).toBe(200);
    expect(await gateway.metric(refusals('reported', 'sunset').replace('listIdeas', 'listArticles'))).toBe(1);
    expect((await overview(gateway)).entries.map(({ state }) => state)).toEqual(['gone', 'past its sunset']);
  });
});

describe('in observe mode, a deprecation', () => {
  it('changes nothing for clients, and counts what would be refused', async () => {
    const gateway = await startTestGateway({
      upstream: fake,
      real: true,
      clock,
      config: {
        deprecation: { file: ':memory:', entries: [{ ...ENTRY, brownouts: [NOW], refuseAfterSunset: true }] },
      },
    });
    const plain = await startTestGateway({ upstream: fake, real: true, clock, config: {} });
    const [with_, without] = [await call(gateway, IDEAS), await plain.call(IDEAS)];
    const headersOf = ({ rawHeaders }: typeof with_) =>
      rawHeaders.map((text, index) => (/^(?:x-request-id|date)$/i.test(rawHeaders[index - 1] ?? '') ? '' : text));
    expect([with_.status, with_.text, headersOf(with_)]).toEqual([200, without.text, headersOf(without)]);
    expect(await gateway.metric(refusals('reported'))).toBe(1);
    const steps = await gateway.gateway.explain({ method: 'GET', target: IDEAS, as: 'admin' });
    expect(steps.map(({ text }) => text)).toContain('would be refused now (brownout), but is only counted');
    const rows = (await overview(gateway)).rows;
    // The upstream has accepted the credential, but Portico has not verified the name.
    expect(rows).toMatchObject([{ operation: 'listIdeas', caller: expect.stringMatching(/^~[\w-]{16}$/) as string }]);
    fake.handler = () => ({ status: 401, json: {} });
    await call(gateway, IDEAS);
    expect((await overview(gateway)).rows.map(({ caller }) => caller)).toContain('unverified');
  });
});

describe('the counts of usage', () => {
  it('are per caller, parameter and requested field, and contain no names or values', async () => {
    const gateway = await start([ENTRY]);
    await call(gateway, `${IDEAS}?sort=newest&includeOnly=id,author.username,mallory@example.org`, { user: 'alice' });
    await call(gateway, IDEAS, { user: 'alice' });
    await call(gateway, IDEAS, { user: 'bob' });
    await call(gateway, IDEAS, { user: null });
    await call(gateway, IDEAS, { user: 'alice', password: 'wrong' });
    await call(gateway, QUESTIONS, { user: 'alice' });
    const tag = async (name: string) => tagIn(await post(gateway, 'caller', { name }));
    const [alice, bob] = [await tag('alice'), await tag('bob')];
    expect(alice).toMatch(/^[\w-]{16}$/);
    const found = await overview(gateway, '?all=true');
    const counted = found.rows.map(({ operation, part, name, caller, count }) => [
      operation,
      part,
      name,
      caller,
      count,
    ]);
    expect(counted.map((row) => row.join(' ')).toSorted()).toEqual(
      [
        ['listIdeas', 'operation', '', alice, 2],
        ['listIdeas', 'operation', '', bob, 1],
        ['listIdeas', 'operation', '', 'anonymous', 1],
        ['listIdeas', 'operation', '', 'unverified', 1],
        ['listIdeas', 'parameter', 'sort', alice, 1],
        ['listIdeas', 'parameter', 'includeOnly', alice, 1],
        ['listIdeas', 'field', 'id', alice, 1],
        ['listIdeas', 'field', 'author', alice, 1],
        ['listIdeas', 'field', '(other)', alice, 1],
        ['listQuestions', 'operation', '', alice, 1],
      ]
        .map((row) => row.join(' '))
        .toSorted(),
    );
    expect(found.entries[0]).toMatchObject({ requests: 5, callers: 4, lastSeen: '2026-05-04T10:30:15.250Z' });
    const everything = JSON.stringify(found) + gateway.log.join('') + (await gateway.admin('/metrics')).text;
    expect(everything).not.toMatch(/mallory/);
    expect(JSON.stringify(found)).not.toMatch(/alice|bob/);
    expect((await gateway.admin('/metrics')).text).not.toContain(alice);
    const others = await overview(gateway, '?all=true&operation=listQuestions');
    expect(others.rows).toMatchObject([{ operation: 'listQuestions', deprecated: false }]);
    expect((await overview(gateway, '?limit=2')).rows).toHaveLength(2);
  });

  it('survive a reload and a restart, with the revocations and the same tags', async () => {
    const file = join(tempFolder(), 'state', 'deprecation.json');
    const config = (since: string) => ({ deprecation: { file, entries: [{ ...ENTRY, since, brownouts: [NOW] }] } });
    const begin = () =>
      startTestGateway({ upstream: fake, clock, env: { PORTICO_ADMIN_TOKEN: TOKEN }, config: config('2026-01-01') });
    const first = await begin();
    await call(first, IDEAS, { user: 'alice' });
    await first.reload({ config: config('2026-02-01') });
    const brownout = await firstBrownout(first);
    expect((await post(first, 'revoke', { brownout, reason: 'INC-17' })).json).toMatchObject({ stored: true });
    await call(first, IDEAS, { user: 'alice' });
    const before = await overview(first);
    expect(before.rows).toMatchObject([{ count: 2 }]);
    await first.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain('alice');
    const second = await begin();
    expect((await call(second, IDEAS, { user: 'alice' })).status).toBe(200);
    expect((await overview(second)).rows).toMatchObject([{ count: 3, caller: before.rows[0]?.['caller'] }]);
  });

  it('do not contain what the gateway does by itself, such as the refresh of a stored page', async () => {
    const gateway = await start([ENTRY]);
    await call(gateway, IDEAS);
    clock.advance(31);
    await call(gateway, IDEAS);
    await fake.received(2);
    let calls = 2;
    await eventually(async () => {
      calls += 1;
      return String((await call(gateway, IDEAS)).headers['cache-status']).includes('hit; ttl=30');
    });
    expect((await overview(gateway)).rows).toMatchObject([{ part: 'operation', count: calls }]);
  });

  it('end with their age', async () => {
    const gateway = await start([ENTRY], { retentionDays: 1 });
    await call(gateway, IDEAS);
    clock.advance(86_400);
    expect((await overview(gateway)).rows).toHaveLength(1);
    clock.advance(1);
    expect((await overview(gateway)).rows).toEqual([]);
  });

  it('are not read from a damaged file, which prevents the start', async () => {
    const file = join(tempFolder(), 'deprecation.json');
    writeFileSync(file, '{"version":1,"key":"short"}');
    await expect(start([ENTRY], { file })).rejects.toThrow(/not a valid deprecation file: key must be 32 bytes/);
  });
});

needsProgram('redis', 'a fleet with deprecations', (path) => {
  it('shares revocations at once, and the counts of a gateway that ends', async () => {
    const server = await startRedisServer(path);
    const config = { deprecation: { file: ':memory:', entries: [{ ...ENTRY, brownouts: [NOW] }] } };
    const env = { PORTICO_ADMIN_TOKEN: TOKEN };
    const [first, second] = (await startFleet(2, server, fake, { config, env, clock })) as [TestGateway, TestGateway];
    await until(() => [first, second].every((one) => sharedBy(one).redis.isAvailable()));
    expect((await second.call(IDEAS)).status).toBe(503);
    // Each gateway now knows the key of the tags, and both make the same tag of a name.
    const [one, other] = await Promise.all(
      [first, second].map((gateway) => post(gateway, 'caller', { name: 'Alice' })),
    );
    expect(tagIn(one)).toEqual(tagIn(other));
    const brownout = await firstBrownout(first);
    expect((await post(first, 'revoke', { brownout, reason: 'INC-17' })).json).toMatchObject({ stored: true });
    await eventually(async () => (await second.call(IDEAS, { user: 'bob' })).status === 200);
    await call(first, IDEAS, { user: 'alice' });
    await call(second, IDEAS, { user: 'alice' });
    await first.close();
    const caller = tagIn(one);
    await eventually(async () =>
      (await overview(second)).rows.some((row) => row['caller'] === caller && row['count'] === 2),
    );
  });
});

describe('the options of deprecation', () => {
  const faultsOf = (entry: Entry) =>
    readSettings({ env: {}, cwd: tempFolder(), given: { deprecation: { entries: [{ ...ENTRY, ...entry }] } } }).faults;

  it.each([
    [{ since: '2026-02-30' }, 'since', /does not exist|exists/],
    [{ sunset: '2025-01-01' }, 'sunset', /earlier than since/],
    [{ sunset: undefined, refuseAfterSunset: true }, 'refuseAfterSunset', /needs a date/],
    [{ brownouts: [{ from: NOW.to, to: NOW.from }] }, 'brownouts/0/to', /later than from/],
    [{ brownouts: [{ ...NOW, from: '2025-12-31T23:59Z' }] }, 'brownouts/0/from', /earlier than since/],
    [{ note: 'two\nlines' }, 'note', /./],
  ])('are refused if they contradict each other or cannot be headers: %j', (entry, key, message) => {
    const faults = faultsOf(entry);
    expect(faults.map((fault) => fault.pointer)).toEqual([`/deprecation/entries/0/${key}`]);
    expect(faults[0]?.message).toMatch(message);
  });

  it.each([
    'https:///qa.example.org',
    'https://?x',
    'https://me:secret@qa.example.org/',
    'https://qa.example.org@x.org',
    'javascript:alert(1)',
    '//qa.example.org/x',
    '/',
    '/two words',
    '/x\r\nSet-Cookie: a=b',
    '/x>; rel="next"',
  ])('do not contain the ambiguous address %j', (address) => {
    expect(faultsOf({ link: address, successor: address })).toEqual([
      expect.objectContaining({
        pointer: '/deprecation/entries/0/link',
        message: expect.stringMatching(/wrong format.*http or https URL/) as string,
      }),
      expect.objectContaining({
        pointer: '/deprecation/entries/0/successor',
        message: expect.stringMatching(/wrong format.*URL.*path, beginning with one slash/) as string,
      }),
    ]);
  });

  it.each(['https://qa.example.org', 'http://[::1]:8080/v3?a=b#c', 'https://qa.example.org:443'])(
    'may name an address such as %s',
    (address) => {
      expect(faultsOf({ link: address, successor: address })).toEqual([]);
    },
  );

  it('are warned about if an end has passed without effect, and if observe mode ignores them', () => {
    const warnings = (entry: Entry, mode = 'strict') => {
      const given = { mode, deprecation: { entries: [{ ...ENTRY, ...entry }] } };
      const { settings } = readSettings({ env: {}, cwd: tempFolder(), given });
      return settingWarnings(settings, contract, loadRoles(ROLES, 'roles.yaml', undefined)).map(
        ({ message }) => message,
      );
    };
    const past = { since: '2001-01-01', sunset: '2001-02-01' };
    expect(warnings(past)).toEqual([expect.stringContaining('is in the past, but requests are still served')]);
    expect(warnings({ ...past, refuseAfterSunset: true })).toEqual([]);
    expect(warnings({ ...past, refuseAfterSunset: true }, 'observe')).toEqual([
      'has no effect: observe mode announces and refuses nothing: usage is only counted',
    ]);
    expect(warnings({ ...past, refuseAfterSunset: true, brownouts: [NOW] })).toEqual([
      'has no effect: it begins after sunset, when requests are refused anyway',
    ]);
  });

  it('may name only operations and parameters of the contract', () => {
    const entries = [
      { ...ENTRY, operations: ['listIdea'] },
      { ...ENTRY, parameter: 'sorted' },
    ] as never;
    const found = deprecation.checkContract({ entries } as never, contract);
    expect(found).toEqual([
      {
        pointer: '/deprecation/entries/0/operations/0',
        message: 'listIdea is not an operation in the contract',
        suggestion: 'did you mean listIdeas?',
      },
      {
        pointer: '/deprecation/entries/1/parameter',
        message: 'sorted is not a query parameter of listIdeas',
        suggestion: 'did you mean sort?',
      },
    ]);
  });
});

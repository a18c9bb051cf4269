import { levelsIn } from '../../builders/levels-in.ts';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { exampleResponse } from '../../builders/example-response.ts';
import { type FakeResponse, type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { overrideEventJson } from '../../../src/features/levels/override-event.ts';
import { parseAuditEntry } from '../../../src/features/trail/audit-entry.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { watchTimers } from '../../builders/watch-timers.ts';

const LIST = '/services/v2/idea.json';
const DRIFT: FakeResponse = { json: { list: [], listCount: 'none' } };

const folder = mkdtempSync(join(tmpdir(), 'portico-overrides-'));
afterAll(() => rmSync(folder, { recursive: true }));

let number = 0;
let file: string;
let fake: FakeUpstream;
let drift: FakeResponse | undefined;
beforeEach(async () => {
  number += 1;
  file = join(folder, String(number), 'levels.json');
  drift = undefined;
  fake = await startFakeUpstream((request) => drift ?? exampleResponse(request));
});

const start = (more: object = {}, clock = createTestClock()): Promise<TestGateway> =>
  startTestGateway({
    upstream: fake,
    clock,
    config: {
      operations: { listIdeas: { checks: { responses: 'enforce' } } },
      levels: { file },
      auditTrail: { file: trailFile() },
      ...more,
    },
  });

const set = (gateway: TestGateway, change: object, more: object = { forMinutes: 60 }) =>
  gateway.admin('/overrides', {
    method: 'POST',
    body: { operation: 'listIdeas', reason: 'INC-17', ...change, ...more },
  });
const end = (gateway: TestGateway, body: object) => gateway.admin('/overrides/end', { method: 'POST', body });

const LOWERED = { kind: 'level', check: 'responses', level: 'report' };
const gauge = (kind: string) => `portico_overrides_active{operation="listIdeas",kind="${kind}"}`;

const trailFile = () => join(file, '..', 'overrides-audit.jsonl');

const trail = () =>
  readFileSync(trailFile(), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => overrideEventJson(parseAuditEntry(line) ?? expect.unreachable()) as Record<string, unknown>);

describe('an override of a level', () => {
  it('applies to the next request, and ends when the operator ends it', async () => {
    const gateway = await start({ cache: { enabled: false } });
    drift = DRIFT;
    expect((await gateway.call(LIST)).status).toBe(502);
    expect((await set(gateway, LOWERED)).json).toMatchObject({ override: { operation: 'listIdeas' }, stored: true });
    const passed = await gateway.call(LIST);
    expect([passed.status, passed.text]).toEqual([200, JSON.stringify(DRIFT.json)]);
    expect(await gateway.metric(gauge('level'))).toBe(1);
    expect(await gateway.metric('portico_operation_enforcement{operation="listIdeas",check="responses"}')).toBe(1);
    expect(gateway.gateway.planLines.find((line) => line.includes('idea.json'))).toContain(
      '[override: responses report instead of enforce until 2026-05-04T11:30:15Z (INC-17)]',
    );
    expect(await gateway.gateway.explain({ method: 'GET', target: LIST, as: 'admin' })).toContainEqual({
      name: 'override',
      text: 'responses report instead of enforce until 2026-05-04T11:30:15Z (INC-17)',
    });
    expect((await end(gateway, { operation: 'listIdeas', change: 'responses', by: 'bob' })).status).toBe(200);
    expect((await gateway.call(LIST)).status).toBe(502);
    expect(await gateway.metric(gauge('level'))).toBe(0);
    expect((await end(gateway, { operation: 'listIdeas' })).status).toBe(404);
    expect(trail()).toMatchObject([
      {
        event: 'set',
        operation: 'listIdeas',
        check: 'responses',
        level: 'report',
        reason: 'INC-17',
        from: '127.0.0.1',
      },
      { event: 'ended', check: 'responses', endedBy: { by: 'bob', from: '127.0.0.1' } },
    ]);
    // Both files contain the names of operators, so only their owner may read them.
    expect([file, trailFile()].map((one) => statSync(one).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it.each([
    ['requests', `${LIST}?colour=red`],
    ['pageBounds', `${LIST}?pageSize=500`],
  ])('lowers %s, also for a target that was refused before', async (check, target) => {
    const gateway = await start();
    expect((await gateway.call(target)).status).toBe(400);
    await set(gateway, { kind: 'level', check, level: 'report' });
    const { status, headers } = await gateway.call(target);
    expect([status, headers['contract-status']]).toEqual([200, expect.stringContaining('violation')]);
    await end(gateway, { operation: 'listIdeas', change: check });
    expect((await gateway.call(target)).status).toBe(400);
  });

  it('affects no other operation, and leaves requests in progress with their plan', async () => {
    const gateway = await start({ cache: { enabled: false } });
    drift = DRIFT;
    await set(gateway, { ...LOWERED, operation: 'listQuestions', level: 'enforce' });
    expect((await gateway.call('/services/v2/question.json')).status).toBe(502);
    expect((await gateway.call('/services/v2/article.json')).status).toBe(200);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    fake.handler = async () => {
      await held;
      return DRIFT;
    };
    const count = fake.requests.length;
    const early = gateway.call(LIST);
    await fake.received(count + 1);
    await set(gateway, LOWERED);
    release();
    expect((await early).status).toBe(502);
  });

  it('does not leave stored pages behind that were not checked', async () => {
    const gateway = await start();
    await set(gateway, { ...LOWERED, level: 'off' });
    drift = { json: { list: [], listCount: 0 } };
    expect((await gateway.call(LIST)).headers['cache-status']).toMatch(/fwd=miss; stored/);
    expect((await gateway.call(LIST)).headers['cache-status']).toMatch(/hit/);
    await end(gateway, { operation: 'listIdeas' });
    const count = fake.requests.length;
    drift = undefined;
    expect((await gateway.call(LIST)).headers['cache-status']).toMatch(/fwd=miss/);
    expect(fake.requests).toHaveLength(count + 1);
  });
});

describe('an override that disables an operation', () => {
  it('refuses every request with 503 until the end, without asking the upstream or showing the reason', async () => {
    const clock = createTestClock();
    const gateway = await start({}, clock);
    await gateway.call(LIST);
    await set(gateway, { kind: 'disable' }, { until: new Date(clock() + 90_500).toISOString() });
    const count = fake.requests.length;
    const refused = await gateway.call(LIST, { headers: { 'X-Request-Id': 'disabled-1' } });
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '91']);
    expect(refused.json).toMatchObject({
      code: 'operation_disabled',
      error: 'This operation is temporarily disabled.',
    });
    expect(refused.text).not.toContain('INC-17');
    expect(await gateway.lineOf('disabled-1')).toMatchObject({ operation: 'listIdeas', error: 'operation_disabled' });
    expect((await gateway.call('/services/v2/question.json')).status).toBe(200);
    expect(fake.requests).toHaveLength(count + 1);
    const steps = await gateway.gateway.explain({ method: 'GET', target: LIST, as: 'admin' });
    expect(steps).toContainEqual({
      name: 'verdict',
      text: '503 operation_disabled: This operation is temporarily disabled.',
    });
    expect(steps).toContainEqual({ name: 'to allow it', text: 'portico override end listIdeas disable' });
    // The override ends at its end time, even if the plan has not been replaced yet.
    clock.advance(90.5);
    expect((await gateway.call(LIST)).status).toBe(200);
  });
});

describe('an override that forces stale pages', () => {
  const FORCED = { kind: 'force-stale', maxStaleSeconds: 3600 };

  it('serves stored pages up to the bound without asking the upstream, and asks for all others', async () => {
    const clock = createTestClock();
    const gateway = await start({}, clock);
    await gateway.call(LIST);
    // By now, the page is older than any configured limit allows.
    clock.advance(1000);
    await set(gateway, FORCED, { forMinutes: 600 });
    const count = fake.requests.length;
    const stale = await gateway.call(LIST, { headers: { 'X-Request-Id': 'forced-1' } });
    expect([stale.status, stale.headers['cache-status']]).toEqual([200, 'portico; hit; ttl=-970; detail=force-stale']);
    expect(stale.headers['age']).toBe('1000');
    expect(await gateway.lineOf('forced-1')).toMatchObject({ cache: 'stale' });
    expect(fake.requests).toHaveLength(count);
    expect((await gateway.call(`${LIST}?pageSize=5`)).headers['cache-status']).toMatch(/fwd=miss; stored/);
    expect((await gateway.call(`${LIST}?pageSize=5`)).headers['cache-status']).toBe('portico; hit; ttl=30');
    expect(fake.requests).toHaveLength(count + 1);
    // One second past the bound, the page is fetched from the upstream.
    clock.advance(2629);
    expect((await gateway.call(LIST)).headers['cache-status']).toMatch(/detail=force-stale/);
    clock.advance(1);
    expect((await gateway.call(LIST)).headers['cache-status']).toMatch(/fwd=miss/);
  });

  it('keeps pages away from other callers, and ends by the clock alone', async () => {
    const clock = createTestClock();
    const gateway = await start({}, clock);
    await gateway.call(LIST);
    clock.advance(100);
    await set(gateway, FORCED, { forMinutes: 10 });
    expect((await gateway.call(LIST, { user: 'moderator' })).headers['cache-status']).toMatch(/fwd=miss/);
    expect((await gateway.call(LIST)).headers['cache-status']).toMatch(/force-stale/);
    clock.advance(600);
    expect((await gateway.call(LIST)).headers['cache-status']).toMatch(/fwd=miss/);
  });

  it('is refused for an operation whose responses are not stored', async () => {
    const gateway = await start({ cache: { enabled: false } });
    const refused = await set(gateway, FORCED);
    expect([refused.status, refused.json.error]).toEqual([
      400,
      "The override would have no effect: the operation's responses are not stored.",
    ]);
  });
});

describe('overrides', () => {
  it('expire at their end, which is logged and recorded', async () => {
    const clock = createTestClock();
    const gateway = await start({ cache: { enabled: false } }, clock);
    drift = DRIFT;
    const checks = watchTimers(1000);
    await set(gateway, LOWERED, { forMinutes: 1 });
    expect((await gateway.call(LIST)).status).toBe(200);
    clock.advance(59.999);
    expect((await gateway.call(LIST)).status).toBe(200);
    clock.advance(0.001);
    checks.runNow();
    expect(gateway.log.filter((line) => line.includes('an override expired'))).toHaveLength(1);
    expect((await gateway.call(LIST)).status).toBe(502);
    await levelsIn(gateway.gateway).written();
    expect(trail().map(({ event }) => event)).toEqual(['set', 'expired']);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version: 1, entries: [] });
  });

  it('survive a restart until their end, also if it passes while the gateway is stopped', async () => {
    const clock = createTestClock();
    const first = await start({ cache: { enabled: false } }, clock);
    await set(first, LOWERED, { forMinutes: 60 });
    await set(first, { kind: 'disable', operation: 'listQuestions' }, { forMinutes: 10 });
    await first.close();
    drift = DRIFT;
    const second = await start({ cache: { enabled: false } }, clock);
    expect(second.log.filter((line) => line.includes('an override is in effect'))).toHaveLength(2);
    expect((await second.call(LIST)).status).toBe(200);
    expect((await second.call('/services/v2/question.json')).status).toBe(503);
    await second.close();
    clock.advance(600);
    const third = await start({ cache: { enabled: false } }, clock);
    expect((await third.call('/services/v2/question.json')).status).toBe(200);
    expect((await third.call(LIST)).status).toBe(200);
    await levelsIn(third.gateway).written();
    expect(trail().map(({ event }) => event)).toEqual(['set', 'set', 'expired']);
    const listed = await third.admin('/overrides');
    expect(listed.json).toMatchObject({
      overrides: [{ operation: 'listIdeas', kind: 'level', until: '2026-05-04T11:30:15.250Z' }],
      events: [{ event: 'expired' }, { event: 'set' }, { event: 'set' }],
    });
  });

  it('are stored before the gateway has closed, even if nobody waits for it', async () => {
    const gateway = await start();
    const { overrides } = levelsIn(gateway.gateway);
    const operations = ['listIdeas', 'listQuestions', 'listArticles', 'listActions'];
    for (const operation of operations)
      overrides.set(
        { operation, kind: 'disable', reason: 'INC-17', forMinutes: 5 },
        { actor: 'process', by: 'bob', way: 'program' },
      );
    await gateway.close();
    expect(trail().map((event) => event['operation'])).toEqual(operations);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      entries: operations.toSorted().map((operation) => ({ operation })),
    });
  });

  it('stay in effect after a reload, which can shorten the longest time for new ones', async () => {
    const gateway = await start();
    await set(gateway, { kind: 'disable' });
    const config = {
      operations: {},
      pageBounds: { maxPageSize: 10 },
      levels: { file, overrides: { maxHours: 0.5 } },
      auditTrail: { file: trailFile() },
    };
    expect(await gateway.reload({ config })).toMatchObject({ outcome: 'applied' });
    expect((await gateway.call(LIST)).status).toBe(503);
    expect((await set(gateway, { kind: 'disable' })).json.error).toBe('The end must be at most 0.5 hours from now.');
    await end(gateway, { operation: 'listIdeas' });
    expect((await gateway.call(LIST)).status).toBe(200);
    // The file's location cannot change while the process is running.
    const moved = await gateway.reload({ config: { ...config, levels: { file: join(folder, 'other.json') } } });
    expect(moved).toMatchObject({ outcome: 'refused' });
  });

  // A refused reload has already started the feature with the new configuration.
  it('leave the levels of the configuration in use if a reload is refused at its end', async () => {
    fake.handler = (request) => (request.path.endsWith('/gdpr/0.json') ? { status: 401 } : exampleResponse(request));
    const gateway = await startTestGateway({
      upstream: fake,
      real: true,
      config: { mode: 'strict', levels: { file }, auditTrail: { file: trailFile() } },
    });
    const levels = () => gateway.gateway.gateway.plans.get('listIdeas')?.checks;
    const before = levels();
    const config = {
      mode: 'strict',
      operations: { listIdeas: { checks: { permissions: 'report' } } },
      levels: { file },
      auditTrail: { file: trailFile() },
      // This path accepts any credential, so it cannot verify callers.
      authentication: { probe: { path: '/services/v2/jobs/gdpr/1.json' } },
    };
    expect(await gateway.reload({ config })).toMatchObject({ outcome: 'refused' });
    await set(gateway, LOWERED);
    expect(levels()).toEqual({ ...before, responses: 'report' });
  });

  it('keep the gateway from starting if their file is damaged, and name the file', async () => {
    const gateway = await start();
    await set(gateway, { kind: 'disable' });
    await gateway.close();
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -20));
    await expect(start()).rejects.toThrow(`${file} is not a valid levels file: it is not JSON`);
    // A forged end time must not keep an override in effect for longer than an operator may set.
    writeFileSync(
      file,
      JSON.stringify({
        version: 1,
        contracts: [],
        entries: [
          {
            source: 'operator',
            operation: 'listIdeas',
            kind: 'disable',
            reason: 'x',
            since: '2026-05-04T10:00:00Z',
            until: '2027-05-04T10:00:00Z',
          },
        ],
      }),
    );
    await expect(start()).rejects.toThrow('entries[0].until: The end must be at most 168 hours from now.');
  });

  it('apply even if they cannot be stored, and say so', async () => {
    const gateway = await start();
    await gateway.admin('/overrides');
    // The folder is replaced with a file, so nothing can be stored there.
    rmSync(join(file, '..'), { recursive: true });
    writeFileSync(join(file, '..'), '');
    const response = await set(gateway, { kind: 'disable' });
    expect([response.status, response.json]).toEqual([200, expect.objectContaining({ stored: false })]);
    expect((await gateway.call(LIST)).status).toBe(503);
    expect(gateway.log.some((line) => line.includes('the levels cannot be stored'))).toBe(true);
  });

  it('need the admin token if there is one, and take the name that was entered with it', async () => {
    const gateway = await startTestGateway({ upstream: fake, env: { PORTICO_ADMIN_TOKEN: 'open-sesame' } });
    const body = { operation: 'listIdeas', kind: 'disable', reason: 'INC-18', forMinutes: 5 };
    expect((await gateway.admin('/overrides', { method: 'POST', body })).status).toBe(401);
    expect((await gateway.admin('/overrides')).status).toBe(401);
    expect((await gateway.call(LIST)).status).toBe(200);
    const given = await gateway.admin('/overrides', { method: 'POST', body, user: 'alice', password: 'open-sesame' });
    expect(given.json).toMatchObject({ override: { by: 'alice' } });
    // A page on another site must not be able to make changes through the operator's browser.
    const foreign = await gateway.admin('/overrides/end', {
      method: 'POST',
      body: { operation: 'listIdeas' },
      user: 'alice',
      password: 'open-sesame',
      headers: { Origin: 'https://elsewhere.example' },
    });
    expect(foreign.status).toBe(403);
    expect((await gateway.call(LIST)).status).toBe(503);
  });

  it('cannot make observe mode refuse anything', async () => {
    const gateway = await start({ mode: 'observe', operations: {} });
    for (const change of [{ kind: 'disable' }, { ...LOWERED, level: 'enforce' }, { kind: 'force-stale' }])
      expect((await set(gateway, change)).status).toBe(400);
    expect((await set(gateway, { ...LOWERED, level: 'off' })).status).toBe(200);
  });

  it('that were set before have no effect on observe mode', async () => {
    const clock = createTestClock();
    const strict = await start({}, clock);
    await set(strict, { kind: 'disable' });
    await set(strict, { ...LOWERED, level: 'enforce' });
    await strict.close();
    drift = DRIFT;
    const observing = await start({ mode: 'observe', operations: {} }, clock);
    expect((await observing.call(LIST)).status).toBe(200);
  });
});

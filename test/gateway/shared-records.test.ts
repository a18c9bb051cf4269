import { levelsIn } from '../builders/levels-in.ts';
import type { LevelEntry } from '../../src/features/levels/level-entry.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeResponse, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { type RedisServer, startRedisServer } from '../builders/redis-server.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { createTestClock, type TestClock } from '../builders/test-clock.ts';
import { eventually, until } from '../builders/until.ts';
import { runInProcess } from '../cli/run-in-process.ts';

const LIST = '/services/v2/idea.json';
const DRIFT: FakeResponse = { json: { list: [], listCount: 'none' } };

needsProgram('redis', 'the records of a fleet', (path) => {
  let server: RedisServer;
  let fake: FakeUpstream;
  let drift: FakeResponse | undefined;
  beforeAll(async () => {
    server = await startRedisServer(path);
    fake = await startFakeUpstream((request) => drift ?? exampleResponse(request));
  });
  let fleets = 0;
  /** Starts gateways with the same prefix in Redis. */
  const fleet = async <const Names extends readonly string[]>(names: Names, more: object = {}, clock?: TestClock) => {
    const redis = { url: server.url, prefix: `fleet${(fleets += 1)}` };
    const start = (instance: string) =>
      startTestGateway({
        upstream: fake,
        ...(clock && { clock }),
        config: { instance, redis, ledger: { store: 'redis' }, cache: { enabled: false }, ...more },
      });
    return (await Promise.all(names.map(start))) as { readonly [Key in keyof Names]: TestGateway };
  };
  const report = async (...flags: string[]) => {
    const env = { REDIS_URL: server.url, UPSTREAM_URL: fake.url, PORTICO_CONFIG: '' };
    const { code, out, err } = await runInProcess(['report', '--format', 'json', ...flags], env);
    return { code, err, json: out === '' ? undefined : (JSON.parse(out) as Record<string, unknown>) };
  };

  it('are added up in one ledger, which commands read without a gateway', async () => {
    const redis = { url: server.url };
    const [a, b] = await fleet(['a', 'b'], { redis });
    drift = DRIFT;
    for (const gateway of [a, a, b]) await gateway.call(LIST);
    for (const gateway of [a, b]) await gateway.gateway.services.records.flush();
    const { json } = await report();
    expect(json).toMatchObject({
      replicas: expect.arrayContaining([expect.objectContaining({ replica: 'a', requests: 2 })]) as unknown,
    });
    expect((await report('--replica', 'b')).json).toMatchObject({ requests: 1, scope: { replica: 'b' } });
    expect((await report('--replica', 'c')).err).toContain('has no counts of c');
    expect(json).toMatchObject({
      requests: 3,
      violations: expect.arrayContaining([
        expect.objectContaining({ operation: 'listIdeas', at: '/listCount', count: 3, callers: 1 }),
      ]) as unknown,
    });
  });

  it('are shown by the console, for the fleet and for each gateway', async () => {
    drift = DRIFT;
    const clock = createTestClock();
    const [a] = await fleet(['a'], {}, clock);
    const listed = (one: TestGateway) => one.gateway.services.sharing.instances.list();
    await until(() => listed(a).length === 1);
    // A gateway finds out about the others when it reports to Redis, so the last one to start sees all of them at once.
    const [b] = await fleet(['b'], { redis: a.gateway.settings.redis }, clock);
    for (const gateway of [a, b, b]) await gateway.call(LIST);
    for (const gateway of [a, b]) {
      await gateway.gateway.services.records.flush();
      clock.advance(1);
    }
    const api = async (name: string) => (await b.admin(`/console/api/${name}`)).json;
    const counted = (count: number) =>
      expect.arrayContaining([expect.objectContaining({ at: '/listCount', count })]) as unknown;
    expect(await api('violations')).toMatchObject({ rows: counted(3), replicas: ['b', 'a'] });
    expect(await api('violations?replica=b')).toMatchObject({ rows: counted(2) });
    await until(() => listed(b).length === 2);
    expect(await api('fleet')).toMatchObject({
      instances: [
        { name: 'a', ready: true, mode: 'strict' },
        { name: 'b', ready: true },
      ],
      replicas: [
        { replica: 'b', requests: 2 },
        { replica: 'a', requests: 1 },
      ],
    });
    expect(await b.metric('portico_fleet_instances')).toBe(2);
    expect(await b.metric('portico_fleet_variants{property="baseline"}')).toBe(1);
    expect(await b.metric('portico_fleet_variants{property="contract"}')).toBe(1);
  });

  const DISABLE = { operation: 'listIdeas', kind: 'disable', reason: 'INC-17', forMinutes: 60 };
  const set = (gateway: TestGateway, body: object) => gateway.admin('/overrides', { method: 'POST', body });
  const events = async ({ gateway }: TestGateway) =>
    (await gateway.services.features.actions()).flatMap(({ action }) =>
      action.startsWith('override ') ? action.slice('override '.length) : [],
    );
  const isDisabled = (gateway: TestGateway) => levelsIn(gateway.gateway).overrides.active().length > 0;

  it('include overrides, which apply at every gateway once one of them has been told', async () => {
    drift = undefined;
    const [a, b] = await fleet(['a', 'b']);
    expect((await set(a, DISABLE)).json).toMatchObject({ stored: true });
    await until(() => isDisabled(b));
    expect((await b.call(LIST)).status).toBe(503);
    expect((await b.admin('/overrides')).json).toMatchObject({
      overrides: [{ operation: 'listIdeas', reason: 'INC-17' }],
    });
    await eventually(async () => (await events(b)).includes('set'));

    // A gateway that starts later applies the overrides from its first request onward.
    const [c] = await fleet(['c'], { redis: a.gateway.settings.redis });
    expect((await c.call(LIST)).status).toBe(503);

    await c.admin('/overrides/end', { method: 'POST', body: { operation: 'listIdeas' } });
    await until(() => !isDisabled(a) && !isDisabled(b));
    expect((await a.call(LIST)).status).toBe(200);
    await eventually(async () => (await events(a)).at(-1) === 'ended');
  });

  it('include overrides that were set or ended while Redis was away, and those that it has lost', async () => {
    const own = await startRedisServer(path);
    const redis = { url: own.url };
    const clock = createTestClock();
    const [a, b] = await fleet(['a', 'b'], { redis }, clock);
    await set(a, { ...DISABLE, operation: 'listQuestions' });
    await until(() => isDisabled(b));
    await own.stop();
    expect((await a.admin('/console/api/violations')).status).toBe(503);
    await set(b, DISABLE);
    expect((await b.call(LIST)).status).toBe(503);
    expect((await a.call(LIST)).status).toBe(200);
    await own.start();
    await until(() => {
      // The gateways retry Redis after a second.
      clock.advance(0.01);
      return levelsIn(a.gateway).overrides.active().length === 2;
    });
    expect(levelsIn(b.gateway).overrides.active()).toHaveLength(2);

    // An override expires even if Redis is unavailable.
    await own.stop();
    clock.advance(61 * 60);
    for (const gateway of [a, b]) {
      levelsIn(gateway.gateway).overrides.expire();
      expect((await gateway.call(LIST)).status).toBe(200);
    }
    await own.start();
    const eventsOf = () => Promise.all([a, b].map(events));
    await eventually(async () => {
      clock.advance(0.01);
      return (await eventsOf()).every((found) => found.filter((event) => event === 'expired').length === 2);
    });
    // Both gateways have noticed that both overrides have expired.
    const all = ['expired', 'expired', 'set', 'set'];
    await eventually(async () => {
      clock.advance(0.01);
      return (await eventsOf()).every((found) => isDeepStrictEqual(found.toSorted(), all));
    });
  });

  const ENFORCED = {
    operations: { listIdeas: { checks: { responses: 'enforce' } } },
    levels: { demote: { minAnswers: 3, windowSeconds: 60 } },
  };
  const levelOf = (gateway: TestGateway, check: 'responses' | 'requests' = 'responses') =>
    levelsIn(gateway.gateway).ladder.checksFor('listIdeas')[check];

  it('include demotions, which apply at every gateway, and can be undone at any of them', async () => {
    const [a, b] = await fleet(['a', 'b'], ENFORCED);
    drift = DRIFT;
    for (let sent = 0; sent < 3; sent++) expect((await a.call(LIST)).status).toBe(502);
    expect(levelOf(a)).toBe('report');
    await until(() => levelOf(b) === 'report');
    expect((await b.call(LIST)).status).toBe(200);
    expect(await b.metric('portico_ladder_demoted{operation="listIdeas"}')).toBe(1);
    expect(b.log.join('')).toContain('another gateway has promoted or demoted a check');
    levelsIn(b.gateway).ladder.lift('listIdeas', 'responses');
    await until(() => levelOf(a) === 'enforce');
  });

  it('include demotions that happened while Redis was away, and those that it has lost', async () => {
    const own = await startRedisServer(path);
    const [a, b] = await fleet(['a', 'b'], { ...ENFORCED, redis: { url: own.url } });
    await own.stop();
    drift = DRIFT;
    for (let sent = 0; sent < 3; sent++) await a.call(LIST);
    expect([levelOf(a), levelOf(b)]).toEqual(['report', 'enforce']);
    await own.start();
    await until(() => levelOf(b) === 'report');
    await own.stop();
    await own.start();
    const [c] = await fleet(['c'], { ...ENFORCED, redis: a.gateway.settings.redis });
    await until(() => levelOf(c) === 'report');
  });

  it('are the basis of promotions, which only one gateway decides on', async () => {
    drift = undefined;
    const clock = createTestClock();
    const more = {
      checks: { requests: 'report' },
      levels: { promote: { enabled: true, checks: ['requests'], minAnswers: 4, windowHours: 1 } },
    };
    const [a, b] = await fleet(['a', 'b'], more, clock);
    clock.advance(2 * 3600);
    const gateways = [a, b].map(({ gateway }) => gateway);
    const promote = async (gateway: (typeof gateways)[number]) => {
      const { ladder, store, documents } = levelsIn(gateway);
      const turn = await documents.takeTurn();
      const next = (due: readonly LevelEntry[]) => ({ ...store.state(), entries: [...store.state().entries, ...due] });
      if (turn !== undefined) await ladder.promote(gateway.services.records, (due) => turn.commit(next(due)));
      return turn !== undefined;
    };
    // Neither gateway has seen enough requests on its own.
    for (const gateway of [a, a, b, b]) await gateway.call(LIST);
    for (const { services } of gateways) await services.records.flush();
    const turns = await Promise.all(gateways.map(promote));
    expect(turns.filter(Boolean)).toHaveLength(1);
    await until(() => [a, b].every((gateway) => levelOf(gateway, 'requests') === 'enforce'));
    const promotions = [a, b].map((gateway) => gateway.metric('portico_ladder_promotions_total{check="requests"}'));
    expect((await Promise.all(promotions)).filter((count) => count === 1)).toHaveLength(1);
  });

  it('are not read by a command if Redis cannot be reached, which the command reports', async () => {
    const file = join(tempFolder(), 'portico.yaml');
    writeFileSync(file, JSON.stringify({ redis: { connectTimeoutMs: 100 } }), { mode: 0o600 });
    const env = { REDIS_URL: 'redis://127.0.0.1:1', UPSTREAM_URL: fake.url, PORTICO_CONFIG: file };
    const { code, err } = await runInProcess(['report'], env);
    expect(code).toBe(1);
    expect(err).toContain('the server cannot be reached, so the ledger cannot be read');
  });
});

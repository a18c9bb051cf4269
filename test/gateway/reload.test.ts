import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { basic } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { fastRoles } from '../builders/fast-roles.ts';
import { sharedBy } from '../builders/fleet.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { startRedisServer } from '../builders/redis-server.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { until } from '../builders/until.ts';
import { loadWhile, rollingRestart } from './load-clients.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const QUESTIONS = '/services/v2/question.json';
const IDEAS = '/services/v2/idea.json';

interface Place {
  readonly upstream: FakeUpstream;
  readonly gateway: TestGateway;
}

async function place(options: Omit<TestGatewayOptions, 'upstream'> = {}): Promise<Place> {
  const upstream = await startFakeUpstream(exampleResponse);
  return { upstream, gateway: await startTestGateway({ ...options, upstream }) };
}

/**
 * Returns the path of an overlay that changes the contract. The change does not affect whether any message is valid.
 */
function anotherTitle(): string {
  const file = join(tempFolder(), 'title.yaml');
  const action = '  - target: $.info\n    update: { title: Another }\n';
  writeFileSync(file, `overlay: 1.0.0\ninfo: { title: t, version: "1" }\nactions:\n${action}`);
  return file;
}

/** Makes the upstream hold its next response. Returns a function that releases the response. */
function holdNext(upstream: FakeUpstream): () => void {
  const gate = Promise.withResolvers<undefined>();
  const { handler } = upstream;
  upstream.handler = async (request, response) => {
    upstream.handler = handler;
    await gate.promise;
    return handler(request, response);
  };
  return () => gate.resolve(undefined);
}

/** Returns a roles file in which only super users may list questions. */
const withoutQuestions = async () => (await fastRoles()).replaceAll(/\n *- View the questions list/g, '');

const cacheStatus = async (gateway: TestGateway, target = QUESTIONS) =>
  String((await gateway.call(target)).headers['cache-status']).replace(/; ttl=\d+/, '');

/** Returns the hash of the configuration that a gateway uses, as its metrics show it. */
const configurationHash = async (gateway: TestGateway) =>
  /portico_configuration_info\{hash="(\w+)"\} 1/.exec((await gateway.admin('/metrics')).text)?.[1];

const HIT = 'portico; hit';
const MISS = 'portico; fwd=miss; stored';

describe('a reload', () => {
  it('applies the new configuration to new requests and names what has changed', async () => {
    const { gateway } = await place();
    const large = `${QUESTIONS}?pageSize=50`;
    expect((await gateway.call(large)).status).toBe(200);
    const result = await gateway.reload({ config: { pageBounds: { maxPageSize: 10 }, contractStatusHeader: false } });
    expect(result).toMatchObject({
      outcome: 'applied',
      changed: ['contractStatusHeader', 'pageBounds.maxPageSize'],
    });
    const refused = await gateway.call(large);
    expect([refused.status, refused.headers['contract-status']]).toEqual([400, undefined]);
    const line = gateway.log.findLast((one) => one.includes('the configuration was reloaded')) ?? '';
    expect(JSON.parse(line)).toMatchObject({
      reload: { trigger: 'program', changed: ['contractStatusHeader', 'pageBounds.maxPageSize'] },
    });
    expect(await gateway.metric('portico_reloads_total{outcome="applied"}')).toBe(1);
    expect(gateway.gateway.settings.pageBounds.maxPageSize).toBe(10);
  });

  it('names a secret that has changed, but not its value', async () => {
    const { gateway } = await place();
    const upstream = { credentials: { kind: 'service', username: 'portico', password: 'a-new-secret' } };
    const result = await gateway.reload({ config: { upstream } });
    expect(result).toMatchObject({ outcome: 'applied' });
    expect(JSON.stringify(result)).toContain('upstream.credentials.password');
    expect(JSON.stringify([result, gateway.log])).not.toContain('a-new-secret');
  });

  it('with several errors is refused with all of them, and the previous configuration stays in use', async () => {
    const { gateway } = await place();
    const overlay = join(tempFolder(), 'broken.yaml');
    writeFileSync(overlay, 'overlay: 1.0.0\ninfo: { title: t }\nactions: 3\n');
    const result = await gateway.reload({
      config: { pageBounds: { maxPageSize: 'many' }, cach: {}, contract: { overlays: [overlay] } },
      roles: 'roles: { anonymous: { permissions: [No such permission] } }',
    });
    const faults = result.outcome === 'refused' ? result.faults : [];
    const found = faults.map(({ source, pointer }) => `${source} ${pointer}`).join('\n');
    for (const part of ['/pageBounds/maxPageSize', '/cach', 'broken.yaml']) expect(found).toContain(part);
    expect((await gateway.call(`${QUESTIONS}?pageSize=50`)).status).toBe(200);
    expect(await gateway.metric('portico_reloads_total{outcome="refused"}')).toBe(1);
    expect(gateway.log.some((line) => line.includes('the reload was refused'))).toBe(true);
  });

  it.each([
    [{ adminToken: 'another-token' }, 'adminToken'],
    [{ listen: { port: 1 } }, 'listen.port'],
    [{ listen: { keepAliveSeconds: 7 } }, 'listen.keepAliveSeconds'],
    [{ ledger: { file: 'elsewhere.db' } }, 'ledger.file'],
    [{ levels: { file: 'elsewhere.json' } }, 'levels.file'],
    [{ learn: { traffic: true } }, 'learn.traffic'],
    [{ reference: { seed: 7 } }, 'reference.seed'],
  ])('that changes %j is refused, because %s needs a restart', async (config, key) => {
    const { gateway } = await place();
    const result = await gateway.reload({ config: { ...config, pageBounds: { maxPageSize: 10 } } });
    const [fault, ...others] = result.outcome === 'refused' ? result.faults : [];
    expect([fault?.message, others]).toEqual([`a change of ${key} takes effect only when the process starts`, []]);
    expect((await gateway.call(`${QUESTIONS}?pageSize=50`)).status).toBe(200);
  });

  it('lets a request in flight finish with the configuration that it began with', async () => {
    const { gateway, upstream } = await place();
    const release = holdNext(upstream);
    const before = gateway.call(QUESTIONS);
    await upstream.received(1);
    const roles = await withoutQuestions();
    expect(await gateway.reload({ roles })).toMatchObject({ outcome: 'applied', changed: ['the roles file'] });
    expect((await gateway.call(QUESTIONS, { user: 'guest' })).status).toBe(403);
    release();
    expect((await before).status).toBe(200);
  });

  it('does not compile a contract again whose files and options have not changed', async () => {
    const overlay = anotherTitle();
    const contract = { overlays: [overlay] };
    const { gateway } = await place({ config: { contract } });
    const inUse = () => gateway.gateway.gateway.contract;
    const first = inUse();
    await gateway.reload({ config: { contract, pageBounds: { maxPageSize: 7 } } });
    expect(inUse()).toBe(first);
    writeFileSync(overlay, readFileSync(overlay, 'utf8').replace('Another', 'A third'));
    await gateway.reload();
    expect(inUse().version).not.toBe(first.version);
    await gateway.reload({ config: { contract: { ...contract, maxCollected: 3 } } });
    expect(inUse()).not.toBe(first);
  });

  it('is refused while the gateway is shutting down', async () => {
    const { gateway } = await place();
    const closed = gateway.gateway.close({ lameDuckSeconds: 0.1 });
    expect(await gateway.reload()).toMatchObject({ outcome: 'refused', faults: [{ message: /shutting down/ }] });
    await closed;
  });

  it('waits for a reload that has begun, and two that wait share one', async () => {
    const { gateway } = await place();
    const results = await Promise.all([
      gateway.reload({ config: { pageBounds: { maxPageSize: 10 } } }),
      gateway.reload({ config: { pageBounds: { maxPageSize: 20 } } }),
      gateway.reload({ config: { pageBounds: { maxPageSize: 30 } } }),
    ]);
    expect(results.map(({ outcome }) => outcome)).toEqual(['applied', 'applied', 'applied']);
    expect(gateway.gateway.settings.pageBounds.maxPageSize).toBe(30);
    expect(await gateway.metric('portico_reloads_total{outcome="applied"}')).toBe(2);
  });

  it('keeps the keep-alive connections of clients', async () => {
    const { gateway } = await place();
    let reloads = 0;
    const { done, lost } = await loadWhile(
      { target: () => gateway.url, path: QUESTIONS, headers: { Authorization: basic('admin') }, clients: 8 },
      async (further) => {
        for (; reloads < 4; reloads += 1) {
          const config = { pageBounds: { maxPageSize: 50 + reloads }, upstream: { totalTimeoutMs: 15_000 + reloads } };
          expect(await gateway.reload({ config })).toMatchObject({ outcome: 'applied' });
          // After eight more requests, each client has probably sent at least one of them.
          await further(8);
        }
      },
    );
    expect(lost).toEqual([]);
    expect(done).toBeGreaterThan(reloads);
  });
});

describe('the cache after a reload', () => {
  it('still serves pages that mean the same', async () => {
    const { gateway } = await place();
    await gateway.call(QUESTIONS);
    await gateway.reload({ config: { logging: { principalNames: true }, upstream: { totalTimeoutMs: 9000 } } });
    expect(await cacheStatus(gateway)).toBe(HIT);
  });

  it.each([
    ['another freshness', { cache: { freshSeconds: 20 } }],
    ['a stricter store rule', { cache: { store: 'valid' } }],
    ['another service account', { upstream: { credentials: { kind: 'service', username: 'a', password: 'b' } } }],
  ])('serves no page that was stored with %s', async (_what, config) => {
    const { gateway } = await place();
    await gateway.call(QUESTIONS);
    expect(await cacheStatus(gateway)).toBe(HIT);
    expect(await gateway.reload({ config })).toMatchObject({ outcome: 'applied' });
    expect(await gateway.metric('portico_cache_entries')).toBe(0);
    expect(await cacheStatus(gateway)).toBe(MISS);
  });

  it('serves no page of an operation whose contract has changed', async () => {
    const { gateway } = await place();
    await gateway.call(QUESTIONS);
    expect(await gateway.reload({ config: { contract: { overlays: [anotherTitle()] } } })).toMatchObject({
      outcome: 'applied',
    });
    expect(await cacheStatus(gateway)).toBe(MISS);
  });

  // The attack: a caller who was removed from a role requests a page that was stored while the caller still had the
  // role.
  it('gives no stored page to a caller who may no longer see it', async () => {
    const { gateway } = await place();
    expect((await gateway.call(QUESTIONS, { user: 'guest' })).status).toBe(200);
    await gateway.reload({ roles: await withoutQuestions() });
    expect((await gateway.call(QUESTIONS, { user: 'guest' })).status).toBe(403);
  });

  // A page that was fetched under the previous rules might not be stored under the new rules.
  it('does not serve a page that a request in flight stores under the previous rules', async () => {
    const { gateway, upstream } = await place();
    const release = holdNext(upstream);
    const before = gateway.call(QUESTIONS);
    await upstream.received(1);
    await gateway.reload({ config: { cache: { store: 'valid' } } });
    release();
    expect((await before).status).toBe(200);
    expect(await cacheStatus(gateway)).toBe(MISS);
  });

  it('does not serve a page whose violations are no longer accepted', async () => {
    const folder = tempFolder();
    const baseline = join(folder, 'baseline.yaml');
    writeFileSync(baseline, 'accepted: []\n');
    const { gateway, upstream } = await place({ config: { contract: { baseline } } });
    const page = structuredClone(exampleResponse({ method: 'GET', path: QUESTIONS }).json) as {
      list: Record<string, unknown>[];
    };
    for (const item of page.list) item['title'] = 7;
    upstream.handler = () => ({ json: page });
    await gateway.call(QUESTIONS);
    expect(await cacheStatus(gateway)).toBe('portico; fwd=miss; detail=validity');
    const { entries } = await gateway.gateway.services.records.snapshot();
    const lines = entries.map(({ fingerprint }) => `  - { fingerprint: ${fingerprint}, reason: known, owner: me }\n`);
    writeFileSync(baseline, `accepted:\n${lines.join('')}`);
    expect(await gateway.reload()).toMatchObject({ outcome: 'applied', changed: ['the baseline'] });
    await gateway.call(QUESTIONS);
    expect(await cacheStatus(gateway)).toBe(HIT);
    writeFileSync(baseline, 'accepted: []\n');
    await gateway.reload();
    expect(await cacheStatus(gateway)).toBe('portico; fwd=miss; detail=validity');
  });

  it('is purged by a write that began before the reload, even if the reload has replaced the cache', async () => {
    const { gateway, upstream } = await place();
    const release = holdNext(upstream);
    const write = gateway.call('/services/v2/node/118/cancelwiki.json', { method: 'PUT' });
    await upstream.received(1);
    await gateway.reload({ config: { cache: { maxBytes: 1_000_000 } } });
    await gateway.call(QUESTIONS);
    expect(await cacheStatus(gateway)).toBe(HIT);
    release();
    expect((await write).status).toBe(200);
    expect(await cacheStatus(gateway)).toBe(MISS);
  });

  it('is empty for another upstream, which gets all new requests', async () => {
    const { gateway, upstream } = await place({
      real: true,
      keepAccounts: true,
      config: { mode: 'strict', authentication: { verifier: 'file' } },
    });
    await gateway.call(QUESTIONS);
    const other = await startFakeUpstream(exampleResponse);
    const release = holdNext(upstream);
    const before = gateway.call(IDEAS);
    await upstream.received(2);
    expect(await gateway.reload({ upstream: other.url })).toMatchObject({
      outcome: 'applied',
      changed: ['upstream.url'],
    });
    expect(await gateway.metric('portico_upstream_in_flight')).toBe(1);
    expect(await cacheStatus(gateway)).toBe(MISS);
    release();
    expect((await before).status).toBe(200);
    expect([upstream.requests.length, other.requests.length]).toEqual([2, 1]);
  });
});

describe('after a reload, the credentials', () => {
  it('that were verified are verified again if the accounts have changed', async () => {
    const { gateway } = await place();
    const roles = await fastRoles();
    expect((await gateway.call(QUESTIONS)).status).toBe(200);
    const [, hash = ''] = /passwordHash: (\S+)/.exec(roles) ?? [];
    const unknown = hash.replace(/.{6}$/, 'AAAAAA');
    expect(unknown).not.toBe(hash);
    expect(await gateway.reload({ roles: roles.replaceAll(hash, unknown) })).toMatchObject({ outcome: 'applied' });
    const statuses = await Promise.all(
      ['admin', 'guest'].map(async (user) => (await gateway.call(QUESTIONS, { user })).status),
    );
    expect(statuses).toContain(401);
  });

  // If a new verifier were not tested, a mistake in the address could lock everybody out or let everybody in.
  it('cannot be verified by an upstream that accepts every credential, or that does not respond', async () => {
    const verifying = await startFakeUpstream((request) =>
      request.path.includes('/jobs/gdpr/') && request.password !== 'alice'
        ? { status: 401, json: {} }
        : exampleResponse(request),
    );
    const gateway = await startTestGateway({ upstream: verifying, real: true, config: { mode: 'strict' } });
    const status = async () => (await gateway.call(QUESTIONS, { user: 'alice' })).status;
    expect(await status()).toBe(200);
    const trusting = await startFakeUpstream(exampleResponse);
    expect(await gateway.reload({ upstream: trusting.url })).toMatchObject({ outcome: 'refused', faults: [{}] });
    const refused = await gateway.reload({ upstream: 'http://127.0.0.1:9' });
    expect(refused).toMatchObject({ outcome: 'refused', faults: [{ message: /does not respond to the probe/ }] });
    expect([await status(), (await gateway.admin('/readyz')).status]).toEqual([200, 200]);
    expect(
      await gateway.reload({ upstream: verifying.url, config: { mode: 'strict', rewriteUrls: true } }),
    ).toMatchObject({
      outcome: 'applied',
    });
    expect(await status()).toBe(200);
  });

  // The attack: a client waits for reloads so that it can guess passwords faster than the limit allows.
  it('that failed still count toward the limit', async () => {
    const config = { authentication: { failures: { limit: 2, windowSeconds: 600 } } };
    const { gateway } = await place({ config });
    const guess = async (text: string) =>
      (await gateway.call(QUESTIONS, { user: null, headers: { Authorization: `Basic ${btoa(`admin:${text}`)}` } }))
        .status;
    expect([await guess('a'), await guess('b')]).toEqual([401, 401]);
    await gateway.reload({ config: { authentication: { ...config.authentication, cacheSeconds: 5 } } });
    expect(await guess('c')).toBe(429);
  });
});

describe('after a reload, the records', () => {
  it('continue: no counter decreases, whether operations appear or disappear', async () => {
    const { gateway } = await place({ config: { contract: { inferred: 'off' } } });
    const counters = async () => {
      const { text } = await gateway.admin('/metrics');
      const types = new Map([...text.matchAll(/^# TYPE (portico_\S+) (\w+)$/gm)].map(([, name, type]) => [name, type]));
      const lines = text.split('\n').filter((line) => line.startsWith('portico_'));
      return new Map(
        lines
          .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))] as const)
          .filter(([name]) => types.get(/^\w+/.exec(name)?.[0].replace(/_(?:bucket|sum|count)$/, '')) !== 'gauge'),
      );
    };
    const comment = '/services/v2/node/1/comment.json';
    await gateway.call(QUESTIONS);
    await gateway.call(comment, { method: 'POST', body: { body: 'x' } });
    let before = await counters();
    for (const inferred of ['on', 'off', 'on']) {
      expect(await gateway.reload({ config: { contract: { inferred } } })).toMatchObject({ outcome: 'applied' });
      await gateway.call(QUESTIONS);
      await gateway.call(comment, { method: 'POST', body: { body: 'x' } });
      const after = await counters();
      for (const [name, value] of before) expect([name, (after.get(name) ?? 0) >= value]).toEqual([name, true]);
      before = after;
    }
    expect(before.get('portico_http_requests_total{operation="listQuestions",status_class="2xx"}')).toBe(4);
  });

  it('show the configuration in use', async () => {
    const { gateway } = await place({ clock: createTestClock() });
    const hash = () => configurationHash(gateway);
    const first = await hash();
    await gateway.reload({ config: { mode: 'observe' } });
    expect(await gateway.metric('portico_mode_info{mode="observe"}')).toBe(1);
    expect(await gateway.metric('portico_mode_info{mode="strict"}')).toBe(0);
    expect(await hash()).not.toBe(first);
    await gateway.reload({ config: {} });
    expect(await hash()).toBe(first);
  });

  it('show for each process which configuration it uses: a reload reaches only its own process', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const start = (instance: string) => startTestGateway({ upstream, config: { instance } });
    const both = [await start('one'), await start('two')] as const;
    const [one, two] = both;
    const hashes = () => Promise.all(both.map(configurationHash));
    const bounded = (instance: string) => ({ config: { instance, pageBounds: { maxPageSize: 10 } } });
    const statuses = () =>
      Promise.all(both.map(async (gateway) => (await gateway.call(`${QUESTIONS}?pageSize=50`)).status));
    const [before] = await hashes();
    expect(before).toMatch(/^\w{12}$/);
    expect(await hashes()).toEqual([before, before]);
    expect(await one.reload(bounded('one'))).toMatchObject({ outcome: 'applied' });
    const [after] = await hashes();
    expect(after).not.toBe(before);
    expect([await hashes(), await statuses()]).toEqual([
      [after, before],
      [400, 200],
    ]);
    // A refused reload changes neither the configuration nor its hash.
    expect(await two.reload({ config: { instance: 'two', pageBounds: { maxPageSize: 'many' } } })).toMatchObject({
      outcome: 'refused',
    });
    expect([await hashes(), await statuses()]).toEqual([
      [after, before],
      [400, 200],
    ]);
    await two.reload(bounded('two'));
    expect([await hashes(), await statuses()]).toEqual([
      [after, after],
      [400, 400],
    ]);
    // The contents of the files that the configuration names belong to it.
    await one.reload({ ...bounded('one'), roles: await withoutQuestions() });
    const [changed, unchanged] = await hashes();
    expect([changed === after, unchanged]).toEqual([false, after]);
  });

  it('keep the steps of the ladder unless the contract has changed', async () => {
    const { gateway, upstream } = await place({
      config: { checks: { responses: 'enforce' }, levels: { demote: { minAnswers: 2 } } },
    });
    upstream.handler = () => ({ json: { wrong: true } });
    const level = () => gateway.metric('portico_operation_enforcement{operation="listQuestions",check="responses"}');
    for (let page = 1; (await level()) === 2; page += 1) await gateway.call(`${QUESTIONS}?page=${page}`);
    const config = { checks: { responses: 'enforce' }, levels: { demote: { minAnswers: 2 } }, release: '2' };
    expect(await gateway.reload({ config })).toMatchObject({ outcome: 'applied', changed: ['release'] });
    expect(await level()).toBe(1);
    await gateway.reload({ config: { ...config, contract: { overlays: [anotherTitle()] } } });
    expect(await level()).toBe(2);
  });
});

needsProgram('redis', 'the Fleet page', (path) => {
  it('shows for each process the hash of its metrics, before and after a reload of one of them', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const redis = { url: (await startRedisServer(path)).url };
    const baseline = join(tempFolder(), 'baseline.yaml');
    writeFileSync(baseline, 'accepted: []\n');
    const configOf = (instance: string, more: object = {}) => ({
      config: { instance, redis, contract: { baseline }, ...more },
    });
    const start = (instance: string) => startTestGateway({ upstream, ...configOf(instance) });
    const both = [await start('one'), await start('two')] as const;
    await until(() => both.every((gateway) => sharedBy(gateway).instances.list().length === 2));
    /** Returns what the page shows about the gateway that serves it. */
    const shown = async (gateway: TestGateway, instance: string) => {
      const { json } = await gateway.admin('/console/api/fleet');
      const { instances } = json as unknown as { instances: { name: string; configuration: string }[] };
      return instances.find(({ name }) => name === instance)?.configuration;
    };
    const agrees = async () => {
      const hashes = await Promise.all(both.map(configurationHash));
      expect(await Promise.all([shown(both[0], 'one'), shown(both[1], 'two')])).toEqual(hashes);
      return hashes[0] === hashes[1];
    };
    expect(await agrees()).toBe(true);
    await both[0].reload(configOf('one', { pageBounds: { maxPageSize: 10 } }));
    expect(await agrees()).toBe(false);
    await both[1].reload(configOf('two', { pageBounds: { maxPageSize: 10 } }));
    expect(await agrees()).toBe(true);
  });
});

describe('a rolling restart of two gateways', () => {
  it('loses no request', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const start = async () => {
      // A busy machine delays the readiness checks, so the lame-duck period ends with an event, not with a timer.
      const lameDuck = Promise.withResolvers<unknown>();
      const gateway = await startTestGateway({
        upstream,
        config: { listen: { drainSeconds: 20 } },
        waitLameDuck: () => lameDuck.promise,
      });
      const stop = (unused: Promise<unknown>) => {
        lameDuck.resolve(unused);
        return gateway.gateway.close({ lameDuckSeconds: 4 });
      };
      return { url: gateway.url, adminUrl: gateway.adminUrl, stop };
    };
    const load = { path: QUESTIONS, headers: { Authorization: basic('admin') }, clients: 8 };
    const { done, lost } = await rollingRestart(load, start, 2);
    expect(lost).toEqual([]);
    // Each client sends at least three requests before each of the two restarts.
    expect(done).toBeGreaterThanOrEqual(2 * 3 * load.clients);
  });
});

describe('the admin side', () => {
  it('reloads on POST /reload, and reports all reasons of a refusal', async () => {
    const { gateway } = await place({ config: { adminToken: 'a-long-admin-token' } });
    const headers = { Authorization: 'Bearer a-long-admin-token' };
    expect((await gateway.admin('/reload', { method: 'POST' })).status).toBe(401);
    expect(await gateway.metric('portico_reloads_total{outcome="applied"}')).toBe(0);
    const applied = await gateway.admin('/reload', { method: 'POST', headers });
    expect([applied.status, applied.json]).toEqual([200, { outcome: 'applied', changed: [], warnings: [] }]);
    await turn();
    await until(() => gateway.log.some((line) => line.includes('"trigger":"admin"')));
  });

  it('reloads from the console only for its own pages', async () => {
    const { gateway } = await place({ config: { adminToken: 'a-long-admin-token' } });
    const call = (more: Readonly<Record<string, string>>) =>
      gateway.admin('/console/api/configuration/reload', {
        method: 'POST',
        headers: {
          Authorization: `Basic ${btoa('op:a-long-admin-token')}`,
          'Content-Type': 'application/json',
          ...more,
        },
        body: {},
      });
    expect((await call({ 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
    expect(await gateway.metric('portico_reloads_total{outcome="applied"}')).toBe(0);
    expect((await call({ 'Sec-Fetch-Site': 'same-origin' })).json).toMatchObject({ outcome: 'applied' });
  });
});

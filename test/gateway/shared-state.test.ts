import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startReferenceServer } from '../../src/reference/start-reference-server.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { failInvalidNames } from '../builders/invalid-names.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { startRedisServer } from '../builders/redis-server.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { eventually, until } from '../builders/until.ts';

const LIST = '/services/v2/question.json';

async function startGateway(redis: Record<string, unknown>) {
  const upstream = await startReferenceServer({ complete: true });
  cleanUpAfterFile(() => upstream.close());
  return startTestGateway({ upstream, config: { redis, adminToken: 'the-token-of-the-test' } });
}

/** Waits until a metric has an expected value. */
function shows(gateway: TestGateway, series: string, isExpected: (value: number) => boolean): Promise<void> {
  return eventually(async () => isExpected(await gateway.metric(series)));
}

describe('a gateway whose Redis cannot be reached', () => {
  it('is ready and serves requests', async () => {
    const gateway = await startGateway({ url: 'redis://127.0.0.1:1' });
    await until(() => gateway.log.some((line) => line.includes('Redis is not available')));
    expect((await gateway.admin('/readyz')).status).toBe(200);
    const { status } = await gateway.call(LIST);
    expect(status).toBe(200);
    expect(await gateway.metric('portico_redis_up')).toBe(0);
    expect(await gateway.metric('portico_redis_commands_total{outcome="skipped"}')).toBeGreaterThan(0);
    expect((await gateway.call(LIST)).headers['cache-status']).toMatch(/hit/);
  });

  // Redis URLs often contain the password of a server that many programs share.
  it('shows the URL, the user and the password of Redis nowhere', async () => {
    failInvalidNames();
    const gateway = await startGateway({ url: 'redis://planted-user:planted-password@planted-host.invalid' });
    await until(() => gateway.log.some((line) => line.includes('Redis is not available')));
    const admin = { headers: { authorization: 'Bearer the-token-of-the-test' } };
    const pages = await Promise.all(
      ['/console/api/configuration', '/console/api/status', '/metrics', '/readyz'].map((path) =>
        gateway.admin(path, admin),
      ),
    );
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const shown = [...pages.map(({ text }) => text), ...gateway.log].join('\n');
    expect(shown).toContain('redis.prefix');
    expect(shown.match(/planted\S*/g)).toBeNull();
    const [, status] = pages;
    expect((JSON.parse(status?.text ?? '{}') as Record<string, unknown>)['shared']).toMatchObject({ available: false });
  });
});

needsProgram('redis', 'gateways that share a Redis server', (path) => {
  it('are in sync, and each counts the changes of the other', async () => {
    const { url } = await startRedisServer(path);
    const [one, other] = [await startGateway({ url }), await startGateway({ url })];
    const headers = { authorization: 'Bearer the-token-of-the-test' };
    await until(() => [one, other].every(({ log }) => log.some((line) => line.includes('Redis is available'))));
    for (const gateway of [one, other]) await shows(gateway, 'portico_redis_unsynced_seconds', (value) => value < 1);
    const purged = await one.admin('/cache/purge', { method: 'POST', headers, body: { all: true } });
    expect(purged.status).toBe(200);
    await shows(other, 'portico_shared_changes_total{kind="purge",direction="received"}', (value) => value > 0);
    await shows(one, 'portico_shared_changes_total{kind="purge",direction="sent"}', (value) => value > 0);
    expect(await one.metric('portico_redis_up')).toBe(1);
  });

  // If only one gateway knew of an acceptance or its withdrawal, the others would still refuse what the operator has
  // accepted, or accept what the operator no longer accepts.
  it('apply what an operator accepts or withdraws at any of them, and write it to their own files', async () => {
    const { url } = await startRedisServer(path);
    const upstream = await startReferenceServer({ complete: true, chaos: ['wrong-type:creationDate@6'] });
    cleanUpAfterFile(() => upstream.close());
    const start = async () => {
      const file = join(tempFolder(), 'baseline.yaml');
      const operations = { listQuestions: { checks: { responses: 'enforce' } } };
      const config = { redis: { url }, contract: { baseline: file }, operations, adminToken: 'the-token-of-the-test' };
      const gateway = await startTestGateway({ upstream, config });
      await until(() => gateway.log.some((line) => line.includes('Redis is available')));
      const accepted = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
      return { ...gateway, accepted, status: async () => (await gateway.call(LIST)).status };
    };
    const [one, other] = [await start(), await start()];
    expect([await one.status(), await other.status()]).toEqual([502, 502]);
    const headers = { authorization: 'Bearer the-token-of-the-test' };
    const { json } = await one.admin('/console/api/violations', { headers });
    const found = (json as unknown as { rows: { fingerprint: string; direction: string }[] }).rows;
    const fingerprints = found.map(({ fingerprint }) => fingerprint);
    expect(fingerprints.length).toBeGreaterThan(0);
    const body = { reason: 'known', owner: 'team search', expires: '' };
    for (const fingerprint of fingerprints) {
      const target = `/console/api/violations/${fingerprint}/accept`;
      expect((await one.admin(target, { method: 'POST', headers, body })).status).toBe(200);
    }
    await until(() => fingerprints.every((fingerprint) => other.accepted().includes(fingerprint)));
    expect(other.accepted()).toBe(one.accepted());
    expect([await one.status(), await other.status()]).toEqual([200, 200]);
    // A gateway that starts later uses its own file, which may contain newer changes than the log.
    const late = await start();
    await until(() => late.gateway.services.sharing.changes.position()?.number !== undefined);
    expect([await late.status(), late.accepted()]).toEqual([502, '']);
    const [first = ''] = fingerprints;
    const withdrawn = await other.admin(`/console/api/violations/${first}/withdraw`, {
      method: 'POST',
      headers,
      body: {},
    });
    expect(withdrawn.json).toEqual({ withdrawn: first });
    await until(() => !one.accepted().includes(first));
    // Pages that were stored because the violation was accepted must no longer be served.
    expect([await one.status(), await other.status()]).toEqual([502, 502]);
  });
});

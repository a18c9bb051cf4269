import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Call, callAt } from '../builders/call.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { exampleAnswer } from '../builders/example-answer.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { fastRoles } from '../builders/fast-roles.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { type RedisServer, startRedisServer } from '../builders/redis-server.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { eventually } from '../builders/until.ts';
import { startPortico, untilSays } from '../cli/run-portico.ts';

/*
 * During a deployment, gateways of two releases share one Redis. This suite runs one of this checkout beside one of
 * another checkout, and is skipped unless that one's folder (with node_modules) is named:
 * PORTICO_EARLIER_RELEASE=../earlier npx vitest run test/gateway/earlier-release.test.ts
 */

const EARLIER = process.env['PORTICO_EARLIER_RELEASE'];
const TOKEN = 'a-token-for-the-admin-side-0123456789';
const QUESTIONS = '/services/v2/question.json';

interface Process {
  readonly name: string;
  call(target: string, call?: Call): Promise<Answer>;
  admin(target: string, body?: object): Promise<Answer>;
}

const suite = EARLIER === undefined ? describe.skip : describe;

suite('gateways of two releases with one Redis', () => {
  needsProgram('redis', 'share', (path) => {
    let server: RedisServer;
    let upstream: FakeUpstream;
    let pairs: readonly (readonly [Process, Process])[];
    let title = 'first';
    const fetches = () => upstream.requests.filter((one) => one.path.startsWith(QUESTIONS)).length;
    const titleOf = ({ json }: Answer) => String(json.list[0]?.['title']);

    const start = async (name: string, folder: string | undefined): Promise<Process> => {
      const launcher = folder && join(folder, 'bin', 'portico.mjs');
      if (launcher !== undefined) expect(existsSync(launcher)).toBe(true);
      const at = tempFolder();
      writeFileSync(join(at, 'roles.yaml'), await fastRoles(), { mode: 0o600 });
      writeFileSync(
        join(at, 'portico.yaml'),
        JSON.stringify({
          mode: 'staging',
          listen: { port: 0, adminPort: 0, trustedProxies: ['127.0.0.1'] },
          checks: { responses: 'report', pageBounds: 'enforce' },
          authentication: { verifier: 'file', failures: { limit: 4 } },
          roles: { file: join(at, 'roles.yaml') },
          upstream: { url: upstream.url },
          redis: { url: server.url, commandTimeoutMs: 5_000 },
          rateLimits: [{ name: 'few', requests: 6, windowSeconds: 600, roles: ['moderation'], per: 'role' }],
        }),
        { mode: 0o600 },
      );
      const env = { PORTICO_CONFIG: join(at, 'portico.yaml'), PORTICO_ADMIN_TOKEN: TOKEN, PORTICO_INSTANCE: name };
      const child = startPortico(['serve'], env, launcher);
      let log = '';
      child.stdout.on('data', (part) => (log += String(part)));
      cleanUpAfterFile(async () => {
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      });
      const banner = await untilSays(child, /Admin.*http:\S+/i);
      const [publicUrl = '', adminUrl = ''] = banner.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? [];
      await eventually(() => log.includes('Redis is available'));
      return {
        name,
        call: (target, call) => callAt(publicUrl, target, call),
        admin: (target, body) =>
          callAt(adminUrl, target, {
            user: null,
            method: body === undefined ? 'GET' : 'POST',
            headers: { Authorization: `Bearer ${TOKEN}` },
            ...(body !== undefined && { body }),
          }),
      };
    };

    beforeAll(async () => {
      server = await startRedisServer(path);
      upstream = await startFakeUpstream((request) => {
        if (!request.path.startsWith(QUESTIONS)) return exampleAnswer(request);
        const page = exampleOf('listQuestions');
        page.list[0]['title'] = title;
        return { json: page };
      });
      const [earlier, now] = await Promise.all([start('earlier', EARLIER), start('now', undefined)]);
      pairs = [
        [earlier, now],
        [now, earlier],
      ];
    });

    it.each([0, 1])('purges of pages (%i)', async (index) => {
      const [one, other] = pairs[index] ?? [];
      if (one === undefined || other === undefined) throw new Error('not started');
      const target = `${QUESTIONS}?page=1&pageSize=${20 + index}`;
      title = 'before';
      for (const gateway of [one, other]) expect(titleOf(await gateway.call(target))).toBe('before');
      title = 'after';
      expect((await one.admin('/cache/purge', { tags: ['questions'] })).status).toBe(200);
      await eventually(async () => titleOf(await other.call(target)) === 'after');
      expect(titleOf(await one.call(target))).toBe('after');
    });

    it.each([0, 1])('pages (%i)', async (index) => {
      const [one, other] = pairs[index] ?? [];
      if (one === undefined || other === undefined) throw new Error('not started');
      const target = `${QUESTIONS}?page=1&pageSize=${30 + index}`;
      const before = fetches();
      await one.call(target);
      await eventually(async () => {
        const state = String((await other.call(target)).headers['cache-status']);
        process.stderr.write(`${one.name} → ${other.name}: ${state}, ${fetches() - before} fetches\n`);
        return /hit/.test(state);
      });
    });

    it.each([0, 1])('page counts (%i)', async (index) => {
      const [one, other] = pairs[index] ?? [];
      if (one === undefined || other === undefined) throw new Error('not started');
      await one.call(`${QUESTIONS}?page=1&pageSize=${40 + index}`);
      const far = await other.call(`${QUESTIONS}?page=900&pageSize=${40 + index}`);
      process.stderr.write(`${one.name} → ${other.name}: page 900 has status ${far.status}\n`);
      expect([200, 400]).toContain(far.status);
    });

    it.each([0, 1])('failed logins (%i)', async (index) => {
      const [one, other] = pairs[index] ?? [];
      if (one === undefined || other === undefined) throw new Error('not started');
      const headers = { 'x-forwarded-for': `192.0.2.${index}` };
      const guess = async (at: Process) =>
        (await at.call(QUESTIONS, { user: 'bob', password: `x${Math.random()}`, headers })).status;
      const statuses: number[] = [];
      for (let tries = 0; tries < 6; tries += 1) statuses.push(await guess(tries % 2 ? other : one));
      expect(statuses).toEqual([401, 401, 401, 401, 429, 429]);
    });

    it('rate limits', async () => {
      const [one, other] = pairs[0] ?? [];
      if (one === undefined || other === undefined) throw new Error('not started');
      const statuses: number[] = [];
      for (let sent = 0; sent < 8; sent += 1)
        statuses.push((await (sent % 2 ? other : one).call(QUESTIONS, { user: 'moderator' })).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429]);
    });

    it.each([0, 1])('overrides (%i)', async (index) => {
      const [one, other] = pairs[index] ?? [];
      if (one === undefined || other === undefined) throw new Error('not started');
      const override = { operation: 'listIdeas', kind: 'disable', reason: 'INC-1', forMinutes: 5 };
      expect((await one.admin('/overrides', override)).status).toBe(200);
      const status = async () => (await other.call('/services/v2/idea.json')).status;
      await eventually(async () => (await status()) === 503);
      expect(
        (await one.admin('/overrides/end', { operation: 'listIdeas', kind: 'disable', reason: 'INC-1' })).status,
      ).toBe(200);
      await eventually(async () => (await status()) === 200);
    });

    it.each([0, 1])('uploads (%i)', async (index) => {
      const [one, other] = pairs[index] ?? [];
      if (one === undefined || other === undefined) throw new Error('not started');
      const content = `username\nperson-${index}`;
      const send = async (at: Process) => {
        const answer = await at.call('/services/v2/users/gdpr/upload.json', { method: 'POST', body: { content } });
        return answer.status;
      };
      const statuses = [await send(one), await send(other)];
      process.stderr.write(`${one.name} → ${other.name}: uploads ${statuses.join(', ')}\n`);
      expect(statuses[1]).not.toBe(statuses[0]);
    });

    it('their list of gateways, and the audit trail', async () => {
      const [one, other] = pairs[0] ?? [];
      if (one === undefined || other === undefined) throw new Error('not started');
      for (const gateway of [one, other])
        await eventually(async () => {
          const { text } = await gateway.admin('/console/api/fleet');
          return (JSON.parse(text) as { instances: unknown[] }).instances.length === 2;
        });
      const texts = await Promise.all([one, other].map(async (gateway) => (await gateway.admin('/audit')).text));
      for (const text of texts)
        for (const gateway of ['earlier', 'now']) expect(text).toContain(`"gateway":"${gateway}"`);
    });
  });
});

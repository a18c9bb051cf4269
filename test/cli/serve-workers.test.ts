import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Call, callAt } from '../builders/call.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { exampleAnswer } from '../builders/example-answer.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { knowing } from '../builders/knowing-upstream.ts';
import { fastRoles } from '../builders/fast-roles.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../builders/otlp-receiver.ts';
import { eventually, until } from '../builders/until.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { PATIENT, startRedisServer } from '../builders/redis-server.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway } from '../builders/test-gateway.ts';
import { runInProcess } from './run-in-process.ts';
import { finished, startPortico, untilSays } from './run-portico.ts';

/** Returns functions that call the two sides of a gateway. */
function clientOf(url: string, adminUrl: string, token?: string) {
  const call = (target: string, more = {}) => callAt(url, `/services/v2/${target}`, { user: 'admin', ...more });
  const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const admin = (path: string, { headers = {}, ...more }: Call = {}) =>
    callAt(adminUrl, path, { user: null, headers: { ...authorization, ...headers }, ...more });
  const metrics = async () => {
    const { text } = await admin('/metrics');
    const lines = text.split('\n').filter((line) => line.startsWith('portico_'));
    return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
  };
  const metric = async (series: string) => (await metrics()).get(series) ?? Number.NaN;
  const api = (path: string, more: Call = {}) => admin(`/console/api/${path}`, more);
  return { call, admin, metrics, metric, api };
}

/** Starts `portico serve` with two workers. Without a configured upstream, it runs the reference server. */
async function serve(env: Record<string, string> = {}, token?: string) {
  const child = startPortico(['serve'], {
    PORT: '0',
    ADMIN_PORT: '0',
    PORTICO_DB: ':memory:',
    PORTICO_WORKERS: '2',
    ...env,
  });
  cleanUpAfterFile(() => child.kill('SIGKILL'));
  let out = '';
  child.stdout.on('data', (part) => (out += String(part)));
  const end = finished(child);
  const banner = await untilSays(child, /admin +http\S+/);
  const url = /public +(http:\/\/[^/]+)/.exec(banner)?.[1] ?? '';
  const adminUrl = /admin +(http:\S+)/.exec(banner)?.[1] ?? '';
  const pids = () =>
    execFileSync('ps', ['--ppid', String(child.pid), '-o', 'pid='], { encoding: 'utf8' })
      .trim()
      .split(/\s+/)
      .map(Number);
  return { child, end, url, adminUrl, pids, out: () => out, ...clientOf(url, adminUrl, token) };
}

/**
 * Returns environment variables that make every worker send malformed messages, as a worker with corrupted memory
 * might do.
 */
function corruptWorkers(): Record<string, string> {
  const file = join(tempFolder(), 'corrupt.mjs');
  writeFileSync(
    file,
    `// The worker waits for the results of its own calls, whose ids are low.
     const call = (name, value) => ({ portico: 'call', id: 1e9, name, value });
     const messages = [null, 5, 'text', [], {}, { portico: 'call' }, { portico: 'result', id: {} }, call('none'),
       call('constructor', 1), call('__proto__'), call('toString'), call('report'), call('report', { increase: 5 }),
       call('append'), call('append', { kind: 'purge', tags: 5 }), call('append', { kind: 'none' }),
       call('ledger.write'), call('ledger.write', { entries: 5 }), call('ledger.read'), call('ledger.read', {})];
     if (process.send) setInterval(() => messages.forEach((one) => process.send(one)), 200).unref();`,
  );
  return { NODE_OPTIONS: `--import=${file}` };
}

const MISS: unknown = expect.stringContaining('fwd=miss');
const HIT: unknown = expect.stringContaining('; hit');
const LIST = 'question.json?pageSize=2';
const hits = (result: string) => `portico_cache_requests_total{operation="listQuestions",result="${result}"}`;

describe('a gateway with two workers', () => {
  // All tests share one gateway, because each gateway starts three processes. The first test needs the counts to start
  // at 0, and the last test kills the gateway. The gateway's workers also send meaningless messages, which must not
  // change any result.
  const TOKEN = 'the-token-of-the-test';
  const checks = { responses: 'enforce', permissions: 'off' };
  const drift = { json: { list: [], listCount: 'none' } };
  /** The paths for which the upstream sends `drift`. */
  const drifting = new Set<string>();
  const folder = tempFolder();
  const ladderFile = join(folder, 'state', 'ladder.json');
  const config = {
    mode: 'strict',
    adminToken: TOKEN,
    operations: Object.fromEntries(
      ['listIdeas', 'listArticles', 'listActions'].map((id) => [id, { checks, cache: { enabled: false } }]),
    ),
    contract: { inferred: 'on' },
    // No worker receives this many responses for one operation until a test makes it demote a check.
    ladder: { demote: { minAnswers: 20, windowSeconds: 60 } },
  };
  let upstream: FakeUpstream;
  let receiver: OtlpReceiver;
  let shared: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    const answer: FakeHandler = (request) => (drifting.has(request.path) ? drift : exampleAnswer(request));
    upstream = await startFakeUpstream(knowing(answer));
    const file = join(folder, 'portico.json');
    const complete = {
      ...config,
      upstream: { url: upstream.url },
      roles: { file: join(folder, 'roles.yaml') },
      contract: { ...config.contract, baseline: join(folder, 'baseline.yaml') },
      ladder: { file: ladderFile, ...config.ladder },
      overrides: { file: join(folder, 'state', 'overrides.json') },
      tracing: { exportSeconds: 0.2 },
      ledger: { file: join(folder, 'state', 'ledger.db') },
    };
    const roles = (await fastRoles()).replaceAll('demo: true', 'demo: false');
    writeFileSync(complete.roles.file, roles, { mode: 0o600 });
    writeFileSync(file, JSON.stringify(complete), { mode: 0o600 });
    const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, PORTICO_INSTANCE: 'qa' };
    shared = await serve({ PORTICO_CONFIG: file, ...tracing, ...corruptWorkers() }, TOKEN);
  });
  const purge = () => shared.admin('/cache/purge', { method: 'POST', body: { all: true } });
  // Connections are given to the workers in turn, so two calls reach both workers.
  const both = async (read: () => Promise<number>) => [await read(), await read()];

  it('counts the same as a single process for the same requests', async () => {
    const requests: readonly (readonly [string, object?])[] = [
      [LIST],
      [LIST],
      ['question.json?pageSize=0'],
      ['question.json?page=notANumber'],
      ['node/118/comment.json', { method: 'POST', body: { body: 'a comment' } }],
      ['node/118/comment.json', { method: 'POST', body: { wrong: true } }],
      ['node/118.json'],
      ['user/1.json', { user: 'kevin' }],
      ['user/1.json', { user: 'admin', password: 'wrong' }],
      ['topic.json', { user: null }],
      ['not/in/the/contract.json'],
      [LIST],
    ];
    const countsOf = async ({ call, metric, metrics, api }: ReturnType<typeof clientOf>) => {
      const agents = Array.from({ length: 2 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
      const statuses: number[] = [];
      for (const [index, [target, more]] of requests.entries())
        statuses.push((await call(target, { agent: agents[index % 2], ...more })).status);
      for (const agent of agents) agent.destroy();
      const found = [...(await metrics())]
        .filter(([name]) => name.startsWith('portico_contract_violations_total'))
        .reduce((sum, [, count]) => sum + count, 0);
      // The workers write their violations to the ledger after responding.
      let rows: readonly { readonly count: number }[] = [];
      await eventually(async () => {
        rows = ((await api('violations')).json as unknown as { rows: typeof rows }).rows;
        return rows.reduce((sum, { count }) => sum + count, 0) >= found;
      });
      const violations = rows.map(({ count }) => count).toSorted((a, b) => a - b);
      await eventually(async () => (await metric('portico_ledger_entries')) >= rows.length);
      const all = await metrics();
      // Times and sizes differ in every run, each worker fetches and checks its own pages, and only one of the two
      // gateways exports spans.
      const differing =
        /_seconds_(?:bucket|sum)|_seconds$|_bytes|cache_|upstream_address|exchange_duration|portico_workers|_timestamp|configuration_info|trace_|upstream_answers|scans|check="responses"/;
      return { statuses, violations, counts: [...all].filter(([name]) => !differing.test(name)) };
    };
    const single = await startTestGateway({ upstream, real: true, keepAccounts: true, config });
    const [one, two] = [await countsOf(clientOf(single.url, single.adminUrl, TOKEN)), await countsOf(shared)];
    await single.close();
    expect(two.statuses).toEqual(one.statuses);
    expect(two.counts).toEqual(one.counts);
    expect(two.violations).toEqual(one.violations);
    // If nothing had been counted, the comparison would be meaningless.
    for (const family of ['violations', 'checks', 'authentication', 'ledger_entries'])
      expect(
        one.counts.find(([name, count]) => name.includes(family) && count > 0),
        family,
      ).toBeDefined();
  });

  it('shows both workers on every page of the console', async () => {
    const { adminUrl, call, api, metrics } = shared;
    const paths = ['status', 'traffic', 'upstream', 'configuration', 'permissions', 'ladder', 'overrides', 'cache'];
    const read = async (path: string) => {
      const { status, json } = await api(path);
      expect([path, status]).toEqual([path, 200]);
      return json as unknown as Record<string, unknown>;
    };
    type Total = Record<'requests' | 'clientErrors' | 'hitRatio', number>;
    const total = async () => (await read('traffic'))['total'] as Total;
    const rows = async () => (await read('violations'))['rows'] as { fingerprint: string }[];
    const sumOf = async (pattern: RegExp) =>
      [...(await metrics())].reduce((sum, [name, count]) => (pattern.test(name) ? sum + count : sum), 0);
    await purge();
    // Workers report once a second, so the pages soon show all requests.
    const earlier = await sumOf(/^portico_http_requests_total\{/);
    await eventually(async () => (await total()).requests === earlier);
    const [before, exchanges, known] = [await total(), (await read('upstream'))['exchanges'] as number, await rows()];
    for (let count = 0; count < 6; count += 1) await call(LIST);
    await call('idea.json?page=notANumber');
    await eventually(async () => (await total()).requests >= before.requests + 7);
    const { requests, clientErrors, hitRatio } = await total();
    expect([requests - before.requests, clientErrors - before.clientErrors]).toEqual([7, 1]);
    const served = await sumOf(/^portico_cache_requests_total\{.*result="(?:hit|stale)"/);
    expect(hitRatio).toBe(served / (await sumOf(/^portico_cache_requests_total\{/)));
    expect(await read('upstream')).toMatchObject({
      exchanges: exchanges + 2,
      circuit: 'closed',
      health: { status: 'healthy' },
    });
    expect(await read('cache')).toMatchObject({ entries: 2, operations: [{ operation: 'listQuestions', entries: 2 }] });
    expect(await read('status')).toMatchObject({ ready: true });
    for (const path of [...paths, 'contract', 'explain?target=/services/v2/question.json&as=admin']) await read(path);
    await eventually(async () => (await rows()).length > known.length);
    for (const { fingerprint } of await rows()) await read(`violations/${fingerprint}`);
    // The request form in the API docs sends its request to a worker.
    const credential = { name: 'admin', password: 'admin' };
    const body = { method: 'GET', target: '/services/v2/question.json?pageSize=2', credential };
    expect((await api('try', { method: 'POST', body, headers: { Origin: adminUrl } })).json).toMatchObject({
      status: 200,
    });
  });

  it('purges the pages of all workers before the response to a write', async () => {
    const { call } = shared;
    await purge();
    const agents = [new Agent({ keepAlive: true, maxSockets: 1 }), new Agent({ keepAlive: true, maxSockets: 1 })];
    const [one, other] = agents.map(
      (agent) =>
        async (target: string, more = {}) =>
          call(target, { agent, ...more }),
    );
    if (one === undefined || other === undefined) throw new Error('no agents');
    const cached = async (read: typeof one) => String((await read(LIST)).headers['cache-status']);
    for (let round = 0; round < 3; round += 1) {
      expect([await cached(one), await cached(other)]).toEqual([MISS, MISS]);
      expect([await cached(one), await cached(other)]).toEqual([HIT, HIT]);
      const body = { body: `comment ${round}` };
      expect((await one('node/118/comment.json', { method: 'POST', body })).status).toBeLessThan(300);
    }
    for (const agent of agents) agent.destroy();
  });

  it('refuses a privacy upload that another worker forwards or has accepted', async () => {
    const { call } = shared;
    // Each call uses a new connection, and the connections are distributed to the workers in turn.
    const upload = (content: string) => call('users/gdpr/upload.json', { method: 'POST', body: { content } });
    const statuses = async (content: string) => {
      const answers = await Promise.all([upload(content), upload(content)]);
      return answers.map(({ status }) => status).toSorted((one, other) => one - other);
    };
    expect(await statuses('username\nadmin\n')).toEqual([201, 409]);
    expect(await statuses('username\nadmin\n')).toEqual([409, 409]);
    expect(await statuses('username\nadmin\n\n')).toEqual([201, 409]);
  });

  it('loses no request during reloads, worker by worker', async () => {
    const { child, call, out } = shared;
    const stop = new AbortController();
    const statuses = new Map<number, number>();
    const clients = Array.from({ length: 4 }, async () => {
      while (!stop.signal.aborted) {
        const { status } = await call(LIST);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    for (let round = 1; round <= 3; round += 1) {
      child.kill('SIGHUP');
      // The primary process and both workers report each reload.
      await until(() => out().split('the configuration was reloaded').length > 3 * round);
    }
    stop.abort();
    await Promise.all(clients);
    expect([...statuses.keys()]).toEqual([200]);
  });

  it('ends with one clear line if a worker cannot listen', async () => {
    const { code, err } = await finished(
      startPortico(['serve'], {
        PORT: new URL(shared.url).port,
        ADMIN_PORT: '0',
        UPSTREAM_URL: upstream.url,
        PORTICO_WORKERS: '2',
      }),
    );
    expect(code).toBe(1);
    expect(err).toMatch(/portico cannot listen on 127\.0\.0\.1:\d+: address already in use/);
    expect(err).not.toMatch(/ {2}at /);
  });

  it('counts the requests of both workers, and purges both', async () => {
    const { call, metric } = shared;
    await purge();
    const counts = async () => [await metric(hits('miss')), await metric(hits('hit'))] as const;
    const [missesBefore, hitsBefore] = await counts();
    // Connections are given to the workers in turn, so each worker fetches the page once.
    for (let count = 0; count < 6; count += 1) expect((await call(LIST)).status).toBe(200);
    expect(await counts()).toEqual([missesBefore + 2, hitsBefore + 4]);
    expect((await purge()).json).toEqual({ purged: 2 });
    for (let count = 0; count < 2; count += 1) await call(LIST);
    expect(await metric(hits('miss'))).toBe(missesBefore + 4);
  });

  it('exports the spans of both workers, and shows their exemplars and the sum of their spans', async () => {
    const { admin, call, metric } = shared;
    const spans = () => receiver.spans.filter(({ kind, name }) => kind === 'server' && name.endsWith('/article.json'));
    for (let count = 0; count < 4; count += 1) expect((await call('article.json')).status).toBe(200);
    await until(() => spans().length === 4);
    const instances = new Set(spans().map(({ resource }) => resource['service.instance.id']));
    expect(instances.size).toBe(2);
    expect([...instances].join(' ')).toMatch(/^qa-\d+ qa-\d+$/);
    // A worker counts its spans when the receiver's response arrives.
    await eventually(
      async () => (await metric('portico_trace_spans_total{outcome="exported"}')) >= receiver.spans.length,
    );
    expect(await metric('portico_trace_spans_total{outcome="exported"}')).toBe(receiver.spans.length);
    const { text } = await admin('/metrics', { headers: { Accept: 'application/openmetrics-text' } });
    const [, traceId] = /duration_seconds_bucket\{[^}]*listArticles"\} \d+ # \{trace_id="(\w+)"/.exec(text) ?? [];
    expect(spans().map((span) => span.traceId)).toContain(traceId);
  });

  it('applies the baseline to both workers as soon as the console responds, and no longer after it is withdrawn', async () => {
    const { api, call } = shared;
    const articles = async () => (await call('article.json')).status;
    const violations = async () => {
      const { rows } = (await api('violations')).json as unknown as {
        rows: { fingerprint: string; operation: string }[];
      };
      return rows.filter(({ operation }) => operation === 'listArticles');
    };
    drifting.add('/services/v2/article.json');
    expect(await both(articles)).toEqual([502, 502]);
    await eventually(async () => (await violations()).length > 0);
    const found = await violations();
    const changeAll = async (action: string, body: object) => {
      for (const { fingerprint } of found)
        expect((await api(`violations/${fingerprint}/${action}`, { method: 'POST', body })).status).toBe(200);
    };
    await changeAll('accept', { reason: 'known', owner: 'team search', expires: '' });
    expect(await both(articles)).toEqual([200, 200]);
    await changeAll('withdraw', {});
    expect(await both(articles)).toEqual([502, 502]);
  });

  it('applies overrides, demotions and steps of the ladder in all workers, and keeps counting and applying them after a crash', async () => {
    const { admin, call, metric, pids, out } = shared;
    const ideas = async () => (await call('idea.json')).status;
    const actions = async () => (await call('action.json')).status;
    const override = (path: string, body: object) => admin(`/overrides${path}`, { method: 'POST', body });
    const disable = { operation: 'listActions', kind: 'disable', reason: 'INC-17', forMinutes: 60 };

    expect([...(await both(ideas)), ...(await both(actions))]).toEqual([200, 200, 200, 200]);
    expect((await override('', disable)).json).toMatchObject({ stored: true });
    expect(await both(actions)).toEqual([503, 503]);

    // One worker demotes the check because of its own traffic. The other has not seen enough responses.
    drifting.add('/services/v2/idea.json').add('/services/v2/action.json');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let refused = 0;
    while ((await call('idea.json', { agent })).status === 502) refused += 1;
    expect(refused).toBeGreaterThan(0);
    agent.destroy();
    await eventually(async () => (await metric('portico_ladder_demoted{operation="listIdeas"}')) !== 0);
    expect([...(await both(ideas)), ...(await both(ideas))]).toEqual([200, 200, 200, 200]);
    expect(await metric('portico_ladder_demotions_total{operation="listIdeas"}')).toBe(1);
    await until(() => existsSync(ladderFile) && readFileSync(ladderFile, 'utf8').includes('demoted'));

    expect([await metric('portico_workers'), await metric('portico_worker_restarts_total')]).toEqual([2, 0]);
    const misses = await metric(hits('miss'));
    const [first = 0] = pids();
    process.kill(first, 'SIGKILL');
    await eventually(() => !pids().includes(first));
    // In the meantime, the other worker serves all requests.
    for (let count = 0; count < 4; count += 1) expect((await call(LIST)).status).toBe(200);
    await eventually(() => pids().length === 2);
    expect(await metric(hits('miss'))).toBeGreaterThanOrEqual(misses);
    expect(await metric('portico_worker_restarts_total')).toBe(1);
    await eventually(async () => (await metric('portico_workers')) === 2);
    expect([...(await both(actions)), ...(await both(actions))]).toEqual([503, 503, 503, 503]);
    expect([...(await both(ideas)), ...(await both(ideas))]).toEqual([200, 200, 200, 200]);
    expect((await override('/end', { operation: 'listActions' })).json).toMatchObject({ stored: true });
    drifting.clear();
    expect(await both(actions)).toEqual([200, 200]);
    expect(readFileSync(ladderFile, 'utf8').match(/"move": "demoted"/g)).toHaveLength(1);
    expect(out().match(/"an operator set an override"/g)).toHaveLength(1);
    expect(out().match(/too many responses were refused/g)).toHaveLength(1);
  });

  it('leaves no worker running if the primary process is killed', async () => {
    const { child, end, pids } = shared;
    const workers = pids();
    expect(workers).toHaveLength(2);
    child.kill('SIGKILL');
    await end;
    const isRunning = (pid: number) => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    await until(() => !workers.some(isRunning));
  });
});

needsProgram('redis', 'workers with a shared ledger', (path) => {
  it('counts each request once, and shows each worker as an instance', async () => {
    const { url } = await startRedisServer(path);
    const file = join(tempFolder(), 'portico.json');
    writeFileSync(
      file,
      JSON.stringify({
        instance: 'qa',
        redis: { url, ...PATIENT },
        ledger: { store: 'redis' },
        roles: { file: join(process.cwd(), 'config', 'roles.yaml') },
      }),
    );
    const { child, end, call, api } = await serve({ PORTICO_CONFIG: file });
    for (let count = 0; count < 6; count += 1) await call('question.json?page=notANumber');
    const violation = async () => {
      const { rows } = (await api('violations')).json as unknown as { rows: { operation: string; count: number }[] };
      return rows.find(({ operation }) => operation === 'listQuestions')?.count ?? 0;
    };
    await eventually(async () => (await violation()) >= 6);
    // If a worker counted anything twice, the next batch would contain it.
    await call('question.json?page=notANumber');
    await eventually(async () => (await violation()) >= 7);
    // Both workers have the address of the reference server, which the primary process runs.
    for (const pageSize of [1, 2]) expect((await call(`idea.json?pageSize=${pageSize}`)).status).toBe(200);
    child.kill('SIGTERM');
    const { code, out } = await end;
    expect(code).toBe(0);
    expect(out).not.toContain('cannot be reached');
    const report = await runInProcess(['report', '--format', 'json', '--config', file]);
    const { requests, replicas } = JSON.parse(report.out) as { requests: number; replicas: { replica: string }[] };
    expect(requests).toBe(9);
    expect(replicas.map(({ replica }) => replica).join(' ')).toMatch(/^qa-\d+ qa-\d+$/);
  });
});

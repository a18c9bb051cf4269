import { execFileSync } from 'node:child_process';
import { Agent } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { callAt } from '../builders/call.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { startOtlpReceiver } from '../builders/otlp-receiver.ts';
import { until } from '../builders/until.ts';
import { finished, startPortico, untilSays } from './run-portico.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Starts `portico serve` with two workers in front of the reference server. */
async function serve(env: Record<string, string> = {}) {
  const child = startPortico(['serve'], {
    PORT: '0',
    ADMIN_PORT: '0',
    PORTICO_DB: ':memory:',
    PORTICO_WORKERS: '2',
    ...env,
  });
  cleanUpAfterFile(() => child.kill('SIGKILL'));
  const end = finished(child);
  const banner = await untilSays(child, /admin +http\S+[\s\S]*Try/);
  const url = /public +(http:\/\/[^/]+)/.exec(banner)?.[1] ?? '';
  const adminUrl = /admin +(http:\S+)/.exec(banner)?.[1] ?? '';
  const call = (target: string, more = {}) => callAt(url, `/services/v2/${target}`, { user: 'admin', ...more });
  const metric = async (series: string) => {
    const { text } = await callAt(adminUrl, '/metrics', { user: null });
    const line = text.split('\n').find((one) => one.startsWith(`${series} `));
    return Number(line?.slice(series.length + 1));
  };
  const pids = () =>
    execFileSync('ps', ['--ppid', String(child.pid), '-o', 'pid='], { encoding: 'utf8' })
      .trim()
      .split(/\s+/)
      .map(Number);
  return { child, end, url, adminUrl, call, metric, pids };
}

const MISS: unknown = expect.stringContaining('fwd=miss');
const HIT: unknown = expect.stringContaining('; hit');
const LIST = 'question.json?pageSize=2';
const hits = (result: string) => `portico_cache_requests_total{operation="listQuestions",result="${result}"}`;

describe('a gateway with two workers', () => {
  it('counts the requests of both workers, purges both, and keeps counting after a crash', async () => {
    const { child, end, adminUrl, call, metric, pids } = await serve();
    // Connections are distributed in turn, so each worker fetches the page once.
    for (let count = 0; count < 6; count += 1) expect((await call(LIST)).status).toBe(200);
    expect([await metric(hits('miss')), await metric(hits('hit'))]).toEqual([2, 4]);
    expect(await metric('portico_workers')).toBe(2);
    const purged = await callAt(adminUrl, '/cache/purge', { user: null, method: 'POST', body: { all: true } });
    expect(purged.json).toEqual({ purged: 2 });
    for (let count = 0; count < 2; count += 1) await call(LIST);
    expect(await metric(hits('miss'))).toBe(4);

    const [first = 0] = pids();
    process.kill(first, 'SIGKILL');
    await until(() => !pids().includes(first));
    // The other worker serves all requests in the meantime.
    for (let count = 0; count < 4; count += 1) expect((await call(LIST)).status).toBe(200);
    await until(() => pids().length === 2);
    expect(await metric(hits('miss'))).toBeGreaterThanOrEqual(4);
    expect(await metric('portico_worker_restarts_total')).toBe(1);
    child.kill('SIGTERM');
    expect(await end).toMatchObject({ code: 0 });
  });

  it('exports the spans of both workers, and shows their exemplars and the sum of their spans', async () => {
    const receiver = await startOtlpReceiver();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, PORTICO_INSTANCE: 'qa' };
    const { child, end, adminUrl, call, metric } = await serve(env);
    for (let count = 0; count < 4; count += 1) expect((await call(LIST)).status).toBe(200);
    await until(() => receiver.spans.filter(({ kind }) => kind === 'server').length === 4);
    const instances = new Set(receiver.spans.map(({ resource }) => resource['service.instance.id']));
    expect(instances.size).toBe(2);
    expect([...instances].join(' ')).toMatch(/^qa-\d+ qa-\d+$/);
    // A worker counts its spans when the receiver's response arrives.
    while ((await metric('portico_trace_spans_total{outcome="exported"}')) < receiver.spans.length) continue;
    expect(await metric('portico_trace_spans_total{outcome="exported"}')).toBe(receiver.spans.length);
    const accept = { Accept: 'application/openmetrics-text' };
    const { text } = await callAt(adminUrl, '/metrics', { user: null, headers: accept });
    const [, traceId] = /duration_seconds_bucket\{[^}]*listQuestions"\} \d+ # \{trace_id="(\w+)"/.exec(text) ?? [];
    expect(receiver.spans.map((span) => span.traceId)).toContain(traceId);
    child.kill('SIGTERM');
    expect(await end).toMatchObject({ code: 0 });
  });

  it('purges the pages of all workers before the response to a write', async () => {
    const { child, end, call } = await serve();
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
    child.kill('SIGTERM');
    expect(await end).toMatchObject({ code: 0 });
  });

  it('loses no request during reloads, worker by worker', async () => {
    const { child, end, call } = await serve();
    const stop = new AbortController();
    const statuses = new Map<number, number>();
    const clients = Array.from({ length: 4 }, async () => {
      while (!stop.signal.aborted) {
        const { status } = await call(LIST);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    for (let round = 0; round < 3; round += 1) {
      const reloaded = new Promise<void>((resolve) => {
        let seen = 0;
        child.stdout.on('data', (part) => {
          seen += String(part).split('the configuration was reloaded').length - 1;
          if (seen >= 3) resolve();
        });
      });
      child.kill('SIGHUP');
      await reloaded;
    }
    stop.abort();
    await Promise.all(clients);
    expect([...statuses.keys()]).toEqual([200]);
    child.kill('SIGTERM');
    expect(await end).toMatchObject({ code: 0 });
  });

  it('ends with one clear line if a worker cannot listen', async () => {
    const first = await serve();
    const { code, err } = await finished(
      startPortico(['serve'], {
        PORT: new URL(first.url).port,
        ADMIN_PORT: '0',
        PORTICO_DB: ':memory:',
        PORTICO_WORKERS: '2',
      }),
    );
    expect(code).toBe(1);
    expect(err).toMatch(/portico cannot listen on 127\.0\.0\.1:\d+: address already in use/);
    expect(err).not.toMatch(/ {2}at /);
    first.child.kill('SIGTERM');
    await first.end;
  });
});

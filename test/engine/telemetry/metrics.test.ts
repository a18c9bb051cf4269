import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MODES } from '../../../src/engine/model/modes.ts';
import type { Trace } from '../../../src/engine/model/trace.ts';
import { METRICS } from '../../../src/engine/telemetry/metric-list.ts';
import type { MetricsOptions } from '../../../src/engine/telemetry/request-metrics.ts';
import { createRedisMetrics } from '../../../src/engine/telemetry/redis-metrics.ts';
import { createMetrics, type Metrics } from '../../../src/engine/telemetry/metrics.ts';
import { responseViolation } from '../../builders/response-violation.ts';
import { finishedTrace } from './fixed-trace.ts';

const list = {
  id: 'listQuestions',
  paging: { firstPage: 1, observedPageSize: undefined, hasPageCount: true },
  cacheability: { byDefault: true, tags: [] },
  privateFields: undefined,
} as const;
const comment = {
  id: 'getComment',
  paging: undefined,
  cacheability: undefined,
  privateFields: { names: ['visibility'], requires: { permission: 'x' } },
};

const optionsOf = (mode: 'observe' | 'staging' | 'strict'): MetricsOptions => ({
  operations: [list, comment],
  permissions: ['Edit node', 'Use Private Comments'],
  mode,
  checks: MODES[mode].checks,
  version: '0.0.0',
  contractVersion: 'v2',
  release: '4.1',
  buckets: [0.01, 1],
});

const byName = (a: { name?: string | undefined }, b: { name?: string | undefined }) =>
  (a.name ?? '').localeCompare(b.name ?? '');

const metricsOf = (mode: 'observe' | 'staging' | 'strict' = 'strict', more: Partial<MetricsOptions> = {}) =>
  createMetrics({ ...optionsOf(mode), ...more }, createRedisMetrics());

async function samples(metrics: Metrics): Promise<string[]> {
  return (await metrics.exposition()).split('\n').filter((line) => line.startsWith('portico_'));
}

const denied = (...missing: string[]) =>
  finishedTrace({ permissions: { level: 'enforce', outcome: 'refused', decision: { verdict: 'denied', missing } } });

const counted = async (metrics: Metrics) =>
  (await samples(metrics)).filter(
    (line) => !line.endsWith(' 0') && !/^portico_(mode|enforce|operation_enforcement|build|metric|scrape)/.test(line),
  );

describe('metrics', () => {
  it('contain the versions and the release label of the upstream', async () => {
    const build = (await samples(metricsOf())).find((line) => line.startsWith('portico_build_info'));
    expect(build).toBe(`portico_build_info{version="0.0.0",contract="v2",node="${process.version}",release="4.1"} 1`);
  });

  it('count every fact of a trace', async () => {
    const metrics = metricsOf();
    metrics.record(
      finishedTrace({
        authentication: { level: 'enforce', outcome: 'passed', principal: 'verified' },
        requests: { level: 'enforce', outcome: 'passed' },
        permissions: { level: 'report', outcome: 'reported' },
        responses: { level: 'report', outcome: 'reported', verdict: 'violations' },
        cache: { status: 'miss' },
        upstream: { status: 200, shape: 'json', seconds: 0.5, attempts: 1 },
        violations: [responseViolation(), responseViolation({ category: 'missing' })],
      }),
    );
    metrics.record(
      finishedTrace({
        operation: 'getComment',
        status: 504,
        seconds: 2,
        authentication: { level: 'enforce', outcome: 'refused', principal: 'none', reason: 'credentials_required' },
        upstream: { status: undefined, shape: 'deadline', seconds: 2, attempts: 1 },
        error: 'upstream_timeout',
        redacted: ['visibility'],
      }),
    );
    expect(await counted(metrics)).toMatchInlineSnapshot(`
      [
        "portico_configuration_info{hash=""} 1",
        "portico_http_requests_total{operation="listQuestions",status_class="2xx"} 1",
        "portico_http_requests_total{operation="getComment",status_class="5xx"} 1",
        "portico_http_request_duration_seconds_bucket{le="0.01",operation="listQuestions"} 1",
        "portico_http_request_duration_seconds_bucket{le="1",operation="listQuestions"} 1",
        "portico_http_request_duration_seconds_bucket{le="+Inf",operation="listQuestions"} 1",
        "portico_http_request_duration_seconds_sum{operation="listQuestions"} 0.004",
        "portico_http_request_duration_seconds_count{operation="listQuestions"} 1",
        "portico_http_request_duration_seconds_bucket{le="+Inf",operation="getComment"} 1",
        "portico_http_request_duration_seconds_sum{operation="getComment"} 2",
        "portico_http_request_duration_seconds_count{operation="getComment"} 1",
        "portico_error_budget_spent_total{operation="getComment"} 1",
        "portico_checks_total{check="authentication",outcome="passed"} 1",
        "portico_checks_total{check="authentication",outcome="refused"} 1",
        "portico_checks_total{check="requests",outcome="passed"} 1",
        "portico_checks_total{check="responses",outcome="reported"} 1",
        "portico_checks_total{check="permissions",outcome="reported"} 1",
        "portico_contract_violations_total{operation="listQuestions",direction="response",category="missing",accepted="false"} 1",
        "portico_contract_violations_total{operation="listQuestions",direction="response",category="type",accepted="false"} 1",
        "portico_permission_denials_total{operation="listQuestions"} 1",
        "portico_missing_permissions_total{permission="other"} 1",
        "portico_authentication_failures_total{reason="credentials_required"} 1",
        "portico_redacted_answers_total{operation="getComment"} 1",
        "portico_cache_requests_total{operation="listQuestions",result="miss"} 1",
        "portico_upstream_exchange_duration_seconds_bucket{le="1",operation="listQuestions"} 1",
        "portico_upstream_exchange_duration_seconds_bucket{le="+Inf",operation="listQuestions"} 1",
        "portico_upstream_exchange_duration_seconds_sum{operation="listQuestions"} 0.5",
        "portico_upstream_exchange_duration_seconds_count{operation="listQuestions"} 1",
        "portico_upstream_exchange_duration_seconds_bucket{le="+Inf",operation="getComment"} 1",
        "portico_upstream_exchange_duration_seconds_sum{operation="getComment"} 2",
        "portico_upstream_exchange_duration_seconds_count{operation="getComment"} 1",
        "portico_upstream_answers_total{operation="listQuestions",status_class="2xx"} 1",
        "portico_upstream_failures_total{kind="deadline"} 1",
        "portico_errors_total{code="upstream_timeout"} 1",
      ]
    `);
  });

  it('have a fixed number of series from the start', async () => {
    const metrics = metricsOf();
    expect(await samples(metrics)).toHaveLength(metrics.seriesCount());
    const anyText = fc.string();
    fc.assert(
      fc.property(anyText, anyText, anyText, fc.double(), fc.integer(), (operation, error, shape, seconds, status) => {
        const cache = { status: shape } as unknown as NonNullable<Trace['cache']>;
        const upstream = { status: status % 2 ? status : undefined, shape, seconds, attempts: 1 };
        const violations = [responseViolation({ category: shape as 'type', at: shape })];
        metrics.record(finishedTrace({ operation, error, seconds, status, cache, upstream, violations }));
      }),
      { numRuns: 200 },
    );
    expect(await samples(metrics)).toHaveLength(metrics.seriesCount());
  });

  it('count undocumented paths as undocumented and unknown codes as other', async () => {
    const metrics = metricsOf();
    const { operation: _operation, ...undocumented } = finishedTrace({ error: 'brand_new' });
    metrics.record(undocumented);
    const lines = await counted(metrics);
    expect(lines).toContain('portico_http_requests_total{operation="undocumented",status_class="2xx"} 1');
    expect(lines).toContain('portico_errors_total{code="other"} 1');
  });

  it('get the reason for a failed authentication from the verdict if reported, from the error if refused', async () => {
    const metrics = metricsOf();
    const verdict = { level: 'report', outcome: 'reported', principal: 'unverified' } as const;
    metrics.record(finishedTrace({ authentication: { ...verdict, reason: 'not_basic' } }));
    metrics.record(finishedTrace({ authentication: { ...verdict, reason: 'verification_pending' } }));
    metrics.record(finishedTrace({ authentication: { ...verdict, outcome: 'refused' }, error: 'too_many_attempts' }));
    expect((await counted(metrics)).filter((line) => line.includes('authentication_failures'))).toEqual([
      'portico_authentication_failures_total{reason="too_many_attempts"} 1',
      'portico_authentication_failures_total{reason="not_basic"} 1',
    ]);
  });

  it('name the missing permissions, and count unlisted ones as other', async () => {
    const metrics = metricsOf();
    metrics.record(denied('Edit node', 'Use Private Comments'));
    metrics.record(denied('Use Private Comments'));
    metrics.record(denied('something "new"'));
    metrics.record(finishedTrace({ permissions: { level: 'report', outcome: 'reported' } }));
    metrics.record(
      finishedTrace({
        permissions: { level: 'enforce', outcome: 'passed', decision: { verdict: 'allowed', because: 'Edit node' } },
      }),
    );
    expect((await counted(metrics)).filter((line) => /permission/.test(line) && !line.includes('checks'))).toEqual([
      'portico_permission_denials_total{operation="listQuestions"} 4',
      'portico_missing_permissions_total{permission="Edit node"} 1',
      'portico_missing_permissions_total{permission="Use Private Comments"} 2',
      'portico_missing_permissions_total{permission="other"} 2',
    ]);
  });

  it('count differences of the shadow contract separately from violations', async () => {
    const metrics = metricsOf();
    metrics.record(
      finishedTrace({
        violations: [
          responseViolation({ candidate: 'newly-refused' }),
          responseViolation({ candidate: 'newly-refused' }),
          responseViolation({ candidate: 'newly-accepted' }),
        ],
      }),
    );
    expect((await counted(metrics)).filter((line) => /candidate|violations/.test(line))).toEqual([
      'portico_candidate_differences_total{operation="listQuestions",difference="newly-refused"} 2',
      'portico_candidate_differences_total{operation="listQuestions",difference="newly-accepted"} 1',
    ]);
  });

  it('count operations beyond the limit together', async () => {
    const operations = Array.from({ length: 40 }, (_, index) => ({ ...list, id: `operation${index}` }));
    const whole = metricsOf('strict', { operations });
    expect(whole.foldedOperations()).toBe(0);
    const maxSeries = Math.floor(whole.seriesCount() / 2);
    const metrics = metricsOf('strict', { operations, maxSeries });
    expect(metrics.seriesCount()).toBeLessThanOrEqual(maxSeries);
    expect(metrics.seriesCount()).toBeGreaterThan(maxSeries - whole.seriesCount() / operations.length);
    for (const operation of ['operation0', 'operation38', 'operation39', 'unheard-of'])
      metrics.record(finishedTrace({ operation, cache: { status: 'hit' } }));
    const lines = await samples(metrics);
    expect(lines).toHaveLength(metrics.seriesCount());
    expect(lines).toEqual(
      expect.arrayContaining([
        'portico_http_requests_total{operation="operation0",status_class="2xx"} 1',
        'portico_http_requests_total{operation="folded",status_class="2xx"} 2',
        'portico_http_requests_total{operation="undocumented",status_class="2xx"} 1',
        'portico_cache_requests_total{operation="folded",result="hit"} 2',
        `portico_metric_series ${metrics.seriesCount()}`,
        `portico_metric_folded_operations ${metrics.foldedOperations()}`,
      ]),
    );
  });

  it('stay within ten thousand series with five hundred operations', () => {
    const operations = Array.from({ length: 500 }, (_, index) => ({ ...list, id: `operation${index}` }));
    const metrics = metricsOf('strict', { operations });
    expect(metrics.seriesCount()).toBeLessThanOrEqual(10_000);
    expect(metrics.seriesCount()).toBeGreaterThan(9_850);
  });

  it('report the cost of the previous scrape', async () => {
    const metrics = metricsOf();
    expect(await samples(metrics)).toContain('portico_scrape_bytes 0');
    const before = Buffer.byteLength(await metrics.exposition());
    const lines = await samples(metrics);
    expect(lines).toContain(`portico_scrape_bytes ${before}`);
    expect(lines.find((line) => line.startsWith('portico_scrape_duration_seconds '))).not.toMatch(/ 0$/);
  });

  it('are exactly the listed ones, with their types and help', async () => {
    const text = await metricsOf().exposition();
    const registered = [...text.matchAll(/^# TYPE (portico_\w+) (\w+)$/gm)].map(([, name, type]) => ({ name, type }));
    const listed = Object.values(METRICS).map(({ name, type }) => ({ name, type }));
    expect(registered.sort(byName)).toEqual(listed.sort(byName));
    for (const { name, help } of Object.values(METRICS)) expect(text).toContain(`# HELP ${name} ${help}`);
  });

  it('have exactly the listed labels', async () => {
    const metrics = metricsOf();
    metrics.watch({ addressHealthy: () => [[['a:1'], 1]], addressRequests: () => [[['a:1', 'failed'], 0]] });
    const lines = await samples(metrics);
    for (const { name, labels } of Object.values(METRICS)) {
      const line = lines.find(
        (one) => one.startsWith(`${name}{`) || one.startsWith(`${name} `) || one.startsWith(`${name}_count`),
      );
      const found = [...(line ?? 'missing').matchAll(/(\w+)="/g)].map(([, label]) => label);
      expect({ name, labels: found, there: line !== undefined }).toEqual({ name, labels: [...labels], there: true });
    }
  });

  it('count only the upstream exchange of background work', async () => {
    const metrics = metricsOf();
    const upstream = { status: 200, shape: 'answer', seconds: 0.01, attempts: 1 };
    const { status: _status, ...withoutStatus } = finishedTrace();
    metrics.record({
      ...withoutStatus,
      background: true,
      error: 'upstream_reset',
      cache: { status: 'miss' },
      upstream,
    });
    const all = await samples(metrics);
    const moved = all.filter((sample) => sample.includes('listQuestions') && !sample.endsWith(' 0'));
    expect(moved.filter((sample) => !/^portico_(upstream|operation_enforcement)/.test(sample))).toEqual([]);
    expect(all).toContain('portico_upstream_answers_total{operation="listQuestions",status_class="2xx"} 1');
    expect(all).not.toContain('portico_errors_total{code="upstream_reset"} 1');
  });

  it('report the number of enforced checks: none in observe mode, and some in strict mode', async () => {
    expect(await samples(metricsOf('observe'))).toEqual(
      expect.arrayContaining([
        'portico_enforced_checks 0',
        'portico_mode_info{mode="observe"} 1',
        'portico_enforcement{check="permissions",level="report"} 1',
      ]),
    );
    expect(await samples(metricsOf('strict'))).toContain('portico_enforced_checks 5');
  });

  it('read gauges at each scrape, and report 0 without a source', async () => {
    const metrics = metricsOf();
    metrics.watch({ upstreamInFlight: () => 7, upstreamCircuitOpen: () => true });
    metrics.watch({ addressRequests: () => [[['b:1', 'failed'], 2]] });
    metrics.watch({ upstreamHealthy: () => true, upstreamRetries: () => ({ succeeded: 5, failed: 2, refused: 1 }) });
    await metrics.exposition();
    expect(await samples(metrics)).toEqual(
      expect.arrayContaining([
        'portico_upstream_in_flight 7',
        'portico_upstream_circuit_open 1',
        'portico_upstream_queued 0',
        'portico_upstream_healthy 1',
        'portico_upstream_address_requests_total{address="b:1",outcome="failed"} 2',
        'portico_upstream_retries_total{outcome="succeeded"} 5',
        'portico_upstream_retries_total{outcome="refused"} 1',
        'portico_ready 0',
      ]),
    );
    metrics.watch({ ready: () => true });
    expect(await samples(metrics)).toContain('portico_ready 1');
  });

  it('include those of the process, except for labels with unbounded values', async () => {
    const text = await metricsOf().exposition();
    expect(text).toContain('process_cpu_seconds_total');
    expect(text).not.toMatch(/nodejs_active_/);
  });
});

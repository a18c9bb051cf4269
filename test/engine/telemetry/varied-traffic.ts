import { MODES } from '../../../src/engine/model/modes.ts';
import type { Trace } from '../../../src/engine/model/trace.ts';
import { createMetrics, type Metrics } from '../../../src/engine/telemetry/metrics.ts';
import { createRedisMetrics } from '../../../src/engine/telemetry/redis-metrics.ts';
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
} as const;

const refused = { level: 'enforce', outcome: 'refused' } as const;
const upstream = { status: 200, shape: 'json', seconds: 0.3, attempts: 1, startedAt: 1_700_000_000_000 };
const CHILD = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01';

/** Requests of every kind: served, stored, refused, broken, with violations, undocumented, sampled, and in the background. */
const TRACES: readonly Trace[] = [
  finishedTrace({ cache: { status: 'hit' }, scan: 'valid' }),
  finishedTrace({ cache: { status: 'hit' }, seconds: 0.0005, traceparent: '' }),
  finishedTrace({ cache: { status: 'miss', notStored: 'vary' }, scan: 'closer', upstream, seconds: 0.31 }),
  finishedTrace({ upstream: { ...upstream, traceparent: CHILD, seconds: 40 }, seconds: 41, status: 502 }),
  finishedTrace({ status: 403, permissions: { ...refused, decision: { verdict: 'denied', missing: ['Edit node'] } } }),
  finishedTrace({ status: 400, error: 'page_out_of_bounds', pageBounds: refused }),
  finishedTrace({ status: 401, error: 'credentials_required', authentication: { ...refused, principal: 'none' } }),
  finishedTrace({
    operation: 'getComment',
    redacted: ['visibility'],
    legacyAddress: true,
    droppedHeaders: 2,
    violations: [
      responseViolation(),
      responseViolation({ category: 'missing' }),
      responseViolation({ candidate: 'newly-refused' }),
    ],
  }),
  finishedTrace({
    operation: 'getComment',
    status: 504,
    error: 'upstream_timeout',
    seconds: 2,
    upstream: { status: undefined, shape: 'deadline', seconds: 2, attempts: 2 },
  }),
  finishedTrace({ operation: 'operation9', status: 502, errors: { ...refused, changedTo: 502 }, upstream }),
  finishedTrace({ operation: 'unheard-of', status: 404, error: 'brand_new' }),
  finishedTrace({ background: true, cache: { status: 'stale' }, upstream, seconds: 1 }),
  finishedTrace({ status: 0, upstream: { status: undefined, shape: 'aborted', seconds: 0.1, attempts: 1 } }),
];

/** Returns the metrics of a gateway that has served requests of every kind. Some of its operations are folded. */
export async function servedMetrics(operations = 12, maxSeries = 1500): Promise<Metrics> {
  const more = Array.from({ length: operations - 2 }, (_, index) => ({ ...list, id: `operation${index}` }));
  const redis = createRedisMetrics();
  const metrics = createMetrics(
    {
      operations: [list, comment, ...more],
      permissions: ['Edit node', 'a "quoted" \\ name'],
      mode: 'strict',
      checks: MODES.strict.checks,
      version: '0.0.0',
      contractVersion: 'v2',
      release: '4.1',
      exemplars: true,
      loadedAt: 1_700_000_000_000,
      configurationHash: () => 'abc',
      isAccepted: (_trace, { category }) => category === 'missing',
      maxSeries,
    },
    redis,
  );
  for (const trace of TRACES) metrics.record(trace);
  metrics.reloaded('refused');
  redis.commanded('ok', 3);
  redis.commanded('skipped', 0);
  redis.changed('purge', true);
  redis.watch({
    isAvailable: () => true,
    unsyncedSeconds: () => 0.25,
    instances: () => [],
    sharedPages: () => ({ hit: 4, miss: 3, invalid: 2, forged: 1, away: 0, error: 0, waits: 5, avoided: 6 }),
  });
  metrics.watch({
    cacheEntries: () => 12,
    ready: () => true,
    upstreamRetries: () => ({ succeeded: 5, failed: 2, refused: 1 }),
    addressHealthy: () => [[['a:1'], 1]],
    addressRequests: () => [
      [['a:1', 'succeeded'], 3],
      [['a:1', 'failed'], 2],
    ],
  });
  const { counter, read } = metrics.features;
  const limited = { name: 'portico_example_total', type: 'counter', labels: ['rule'], help: 'An example.' } as const;
  counter(limited, [['a', 'b']])('b');
  read({ ...limited, name: 'portico_example_size', type: 'gauge' }, () => [[['c'], 7]]);
  metrics.record(finishedTrace());
  return metrics;
}

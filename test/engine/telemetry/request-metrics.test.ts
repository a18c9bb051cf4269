import { describe, expect, it } from 'vitest';
import { createRequestMetrics, spendsErrorBudget } from '../../../src/engine/telemetry/request-metrics.ts';
import { MODES } from '../../../src/engine/model/modes.ts';
import { responseViolation } from '../../builders/response-violation.ts';
import { finishedTrace } from './fixed-trace.ts';

const upstream = (shape: string, status?: number) => ({ status, shape, seconds: 1, attempts: 1 });

const refused = { level: 'enforce', outcome: 'refused' } as const;

// The traces of a request in which everything is wrong, and of a request without a response. If a new counter reads
// another member, add the member here.
const TRACES = [
  finishedTrace({
    status: 502,
    error: 'credentials_required',
    authentication: { ...refused, principal: 'none', reason: 'credentials_required' },
    permissions: { ...refused, decision: { verdict: 'denied', missing: ['Edit node'] } },
    pageBounds: refused,
    errors: { ...refused, changedTo: 502 },
    cache: { status: 'miss', notStored: 'vary' },
    scan: 'closer',
    upstream: { status: 200, shape: 'json', seconds: 0.5, attempts: 1 },
    legacyAddress: true,
    droppedHeaders: 1,
    redacted: ['visibility'],
    violations: [responseViolation(), responseViolation({ candidate: 'newly-refused' })],
  }),
  finishedTrace({ upstream: { status: undefined, shape: 'reset', seconds: 0.5, attempts: 1 } }),
];

describe('the counters of traces', () => {
  it('are each incremented by some trace', () => {
    const list = {
      id: 'listQuestions',
      paging: { firstPage: 1, observedPageSize: undefined, hasPageCount: true },
      cacheability: { byDefault: true, tags: [] },
      privateFields: { names: ['visibility'], requires: { permission: 'x' } },
    } as const;
    const counters = createRequestMetrics(
      {
        operations: [list],
        permissions: ['Edit node'],
        mode: 'strict',
        checks: MODES.strict.checks,
        version: '0.0.0',
        contractVersion: 'v2',
        release: '4.1',
      },
      Infinity,
    );
    for (const trace of TRACES) counters.record(trace);
    counters.reloaded('applied');
    const untouched = counters.all.filter((metric) => !metric.samples().some(({ value }) => value > 0));
    expect(untouched.map(({ entry }) => entry.name)).toEqual([]);
    expect(counters.all.length).toBeGreaterThan(15);
  });
});

describe('the error budget', () => {
  it.each([
    ['a response with 500', { status: 500 }],
    ['an upstream failure that became a 502', { status: 502, upstream: upstream('refused') }],
    ['a response with 500 that became a 502', { status: 502, error: 'upstream_error', replacedStatus: 500 }],
    ['a refused service account', { status: 502, error: 'upstream_credentials_refused', replacedStatus: 401 }],
    ['a connection closed because the upstream broke off', { status: 0, upstream: upstream('truncated') }],
  ])('is spent by %s', (_, trace) => expect(spendsErrorBudget(trace)).toBe(true));

  it.each([
    ['a response with 200', { status: 200 }],
    ['a client error', { status: 404, upstream: upstream('error', 404) }],
    ['a stored page that replaced a failed upstream response', { status: 200, upstream: upstream('refused') }],
    ['a redirect that became a 502', { status: 502, error: 'upstream_redirect', replacedStatus: 302 }],
    ['an error in a 200', { status: 502, error: 'upstream_error_in_success', replacedStatus: 200 }],
    ['a 4xx status that became a 502', { status: 502, error: 'upstream_error', replacedStatus: 418 }],
    ['a missing credential', { status: 501, error: 'needs_caller_credential' }],
    ['an unknown content coding', { status: 501, error: 'unknown_transfer_coding' }],
    ['a client that disconnected', { status: 0, upstream: upstream('aborted') }],
    ['a client that disconnected before anything was sent upstream', { status: 0 }],
    ['a client that disconnected in the middle of a response', { status: 0, upstream: upstream('answer', 200) }],
  ])('is not spent by %s', (_, trace) => expect(spendsErrorBudget(trace)).toBe(false));
});

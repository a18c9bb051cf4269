import { describe, expect, it } from 'vitest';
import type { Trace } from '../../../src/engine/model/trace.ts';
import { createSpans, type SpanOrigin, type SpanSubject } from '../../../src/features/tracing/request-spans.ts';
import { finishedTrace } from '../../engine/telemetry/fixed-trace.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const OTHER = '1'.repeat(32);
const START = 1_700_000_000_000;

const SUBJECT: SpanSubject = {
  operations: [{ id: 'listQuestions', method: 'GET', path: '/services/v2/question.json' }],
  pathWords: new Set(['services', 'v2', 'question']),
  publicBasePath: '',
  scheme: 'http',
  publicHost: undefined,
  upstreamUrl: 'http://[::1]:8090/qa',
};

const spansOf = (more: Partial<Trace>, subject: Partial<SpanSubject> = {}) =>
  createSpans({ ...SUBJECT, ...subject }, { resource: {}, instrumentationScope: { name: 'test' } } as SpanOrigin)(
    finishedTrace(more),
  );
const upstream = { status: 200, shape: 'answer', startedAt: START + 1, seconds: 0.002, attempts: 1 };
const fetched = (traceId: string, flags = '01') => ({
  ...upstream,
  traceparent: `00-${traceId}-${'2'.repeat(16)}-${flags}`,
});

describe('the spans of a trace', () => {
  it('are none if the trace is not sampled', () => {
    expect(spansOf({ traceparent: `00-${TRACE}-b7ad6b7169203331-00`, upstream: fetched(TRACE) })).toEqual([]);
    expect(spansOf({ traceparent: '' })).toEqual([]);
  });

  it('have the times of the request and of the exchange', () => {
    const [server, client] = spansOf({ upstream: fetched(TRACE), seconds: 0.0045 });
    expect(server).toMatchObject({
      startTime: [1_700_000_000, 0],
      endTime: [1_700_000_000, 4_500_000],
      duration: [0, 4_500_000],
    });
    expect(client).toMatchObject({ startTime: [1_700_000_000, 1_000_000], endTime: [1_700_000_000, 3_000_000] });
  });

  it('have events at times by which they had happened', () => {
    const passed = { level: 'enforce', outcome: 'passed' } as const;
    const [server] = spansOf({
      upstream: fetched(TRACE),
      authentication: { ...passed, principal: 'verified' },
      cache: { status: 'miss', reason: 'miss', stored: true },
      responses: { ...passed, verdict: 'valid' },
      redacted: ['recipients', 'visibility'],
    });
    expect(server?.events.map(({ name, time: [, nanoseconds] }) => [name, nanoseconds / 1e6])).toEqual([
      ['portico.authentication', 1],
      ['portico.cache', 1],
      ['portico.upstream', 3],
      ['portico.responses', 4],
      ['portico.redacted', 4],
    ]);
    expect(server?.events.at(-1)?.attributes).toEqual({ 'portico.fields': 2 });
  });

  it('name the address of the upstream, also if it is an IPv6 address', () => {
    const [, client] = spansOf({ upstream: fetched(TRACE) });
    expect(client?.attributes).toMatchObject({
      'server.address': '::1',
      'server.port': 8090,
      'url.full': 'http://[::1]:8090/qa/services/v2/question.json',
    });
    const [, secure] = spansOf({ upstream: fetched(TRACE) }, { upstreamUrl: 'https://qa.example.org' });
    expect(secure?.attributes).toMatchObject({ 'server.address': 'qa.example.org', 'server.port': 443 });
  });

  // A span's name must not contain text from a client.
  it('replace unknown methods', () => {
    const [server] = spansOf({ method: 'PLANTED', operation: undefined, target: '/' });
    expect(server).toMatchObject({ name: 'HTTP', attributes: { 'http.request.method': '_OTHER' } });
  });

  it('tell background comparisons from refreshes', () => {
    const background = { background: true, seconds: undefined, status: undefined, upstream: fetched(OTHER) };
    const [comparison, client] = spansOf(background);
    expect(comparison).toMatchObject({ name: 'compare /services/v2/question.json', kind: 0 });
    expect(comparison?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
    expect(client?.links[0]?.context.spanId).toBe(comparison?.spanContext().spanId);
    const [refresh] = spansOf({ ...background, cache: { status: 'miss', reason: 'stale' } });
    expect(refresh?.name).toBe('refresh /services/v2/question.json');
  });

  it('link to a joined exchange only if it is exported', () => {
    const joined = (flags: string) => {
      const leader = finishedTrace({ upstream: fetched(OTHER, flags) });
      return spansOf({ leader, cache: { status: 'coalesced' } })[0]?.links.map(({ context }) => context.traceId);
    };
    expect(joined('01')).toEqual([OTHER]);
    expect(joined('00')).toEqual([]);
  });

  it('fail for server errors, with their cause', () => {
    const failed = { status: undefined, shape: 'deadline', traceparent: fetched(TRACE).traceparent };
    const [server, client] = spansOf({
      status: 504,
      error: 'upstream_deadline',
      upstream: { ...upstream, ...failed },
      failure: { cause: 'http_response_timeout' },
    });
    expect(server).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'upstream_deadline' } });
    expect(client).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'http_response_timeout' } });
    const [refused, responded] = spansOf({ status: 404, upstream: { ...fetched(TRACE), status: 404 } });
    expect(refused?.status.code).toBe(0);
    expect(responded).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': '404' } });
  });
});

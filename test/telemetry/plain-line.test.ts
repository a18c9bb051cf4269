import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Trace } from '../../src/model/trace.ts';
import { createAccessLog } from '../../src/telemetry/access-log.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createPlainLine } from '../../src/telemetry/plain-line.ts';
import { type LineFacts, traceLine } from '../../src/telemetry/trace-line.ts';
import { responseViolation } from '../builders/response-violation.ts';
import { finishedTrace } from './fixed-trace.ts';

const clock = () => 1_700_000_001_234;
const TEMPLATE = '/services/v2/question.json';
const AT = { template: TEMPLATE };

/** The trace of a good answer from memory. */
const plainTrace = (more: Partial<Trace> = {}) =>
  finishedTrace({
    authentication: { level: 'enforce', outcome: 'passed', principal: 'verified' },
    requests: { level: 'enforce', outcome: 'passed' },
    permissions: { level: 'enforce', outcome: 'passed', decision: { verdict: 'allowed', because: 'x' } },
    pageBounds: { level: 'enforce', outcome: 'passed' },
    cache: { status: 'hit', ageSeconds: 3 },
    ...more,
  });

/** What the logger writes of a trace. */
function logged(trace: Trace, facts: Parameters<typeof traceLine>[1]): string {
  let text = '';
  const stream = { write: (line: string) => void (text += line) };
  createLogger({ level: 'info', clock, stream }).info(traceLine(trace, facts), 'request');
  return text;
}

/** What the log writes of a trace at once. */
function written(trace: Trace, caller?: string): string {
  let all = '';
  const stream = { write: (line: string) => void (all += line) };
  const log = createAccessLog({ level: 'info', clock, stream, principalNames: true });
  log.write({ trace, template: TEMPLATE, caller });
  return all;
}

const text = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom('alice', 'a"b', 'a\\b', 'a\nb', '\u0000', '\ud800', '\u2028', '</script>', 'x'.repeat(100)),
);
const harmless = fc.stringMatching(/^[\w.:+/=-]{0,128}$/);
const seconds = fc.oneof(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.constantFrom(0, 1e-7, 1e-6, 0.1 + 0.2, 5e-7));
const plain = fc
  .record({
    requestId: harmless,
    operation: text,
    status: fc.constantFrom(200, 304, 400, 403),
    seconds,
    bytes: fc.nat(),
    principal: fc.constantFrom('verified', 'anonymous', 'unverified'),
    cache: fc.constantFrom('hit', 'stale', 'miss', 'bypass', 'coalesced'),
    absent: fc.subarray(['requests', 'permissions', 'pageBounds'] as const),
  })
  .map(({ requestId, operation, status, seconds: took, bytes, principal, cache, absent }) => {
    const trace = plainTrace({
      operation,
      status,
      seconds: took,
      bytes,
      authentication: { level: 'enforce', outcome: 'passed', principal },
      cache: { status: cache },
    });
    for (const name of absent) delete trace[name];
    return Object.assign(trace, { requestId });
  });

/** Everything by which more is to be said of a request, or less is known of it. */
const MORE: Readonly<Record<string, Partial<Trace>>> = {
  'a failure': { status: 500 },
  'a failure of the upstream': { status: 502, error: 'upstream_error' },
  'an error': { status: 403, error: 'permission_denied' },
  'an empty error': { error: '' },
  'an upstream without a way to it': { upstream: { status: 200, shape: 'answer', seconds: 0, attempts: 1 } },
  'an error of the upstream': {
    route: 'plan',
    upstream: { status: 404, shape: 'error', seconds: 0, attempts: 1 },
  },
  'a failed exchange': { route: 'plan', upstream: { status: undefined, shape: 'answer', seconds: 0, attempts: 1 } },
  'a passed answer that was cached': {
    route: 'passthrough',
    upstream: { status: 200, shape: 'passed', seconds: 0, attempts: 1 },
  },
  'a way': { route: 'plan' },
  'a violation': { violations: [responseViolation()] },
  'redacted fields': { redacted: ['visibility'] },
  'redacted fields of which there are none': { redacted: [] },
  'a legacy address': { legacyAddress: true },
  'a cause': { cause: new Error('x') },
  'an answer that breaks the contract': { responses: { level: 'report', outcome: 'reported', verdict: 'violations' } },
  'an answer that was not checked': { responses: { level: 'off', outcome: 'skipped', verdict: 'skipped' } },
  'a reported way past the contract': { undocumented: { level: 'report', outcome: 'reported' } },
  'a reported credential': { authentication: { level: 'report', outcome: 'reported', principal: 'unverified' } },
  'a refused credential': { authentication: { level: 'enforce', outcome: 'refused', principal: 'none' } },
  'a skipped credential': { authentication: { level: 'report', outcome: 'skipped', principal: 'unverified' } },
  'a reported parameter': { requests: { level: 'report', outcome: 'reported' } },
  'a skipped check': { requests: { level: 'off', outcome: 'skipped' } },
  'a delegated permission': { permissions: { level: 'enforce', outcome: 'skipped' } },
  'a denied permission': { permissions: { level: 'report', outcome: 'reported' } },
  'a page out of bounds': { pageBounds: { level: 'report', outcome: 'reported' } },
  'a request id that needs escaping': { requestId: 'a"b' },
  'a request id with a line break': { requestId: 'a\n' },
  'another method': { method: 'HEAD' },
  'a method that needs escaping': { method: 'G"T' },
};
const ABSENT = ['operation', 'status', 'seconds', 'bytes', 'authentication', 'cache'] as const;

const exchange = fc.record({
  status: fc.constantFrom(200, 304, 404),
  seconds,
  attempts: fc.constantFrom(1, 2),
});

/** The trace of a good answer of the upstream, by its plan or past the contract. */
const fetched = fc
  .record({ trace: plain, exchange, cache: fc.constantFrom(undefined, 'miss', 'bypass'), passed: fc.boolean() })
  .map(({ trace, exchange: upstream, cache, passed }) => {
    const kept = passed || cache === undefined ? undefined : ({ status: cache } as Trace['cache']);
    const ways: Partial<Trace> = passed
      ? {
          route: 'passthrough',
          operation: undefined,
          undocumented: { level: 'enforce', outcome: 'passed' },
          upstream: { ...upstream, shape: 'passed' },
        }
      : {
          route: 'plan',
          responses: { level: 'report', outcome: 'passed', verdict: 'valid' },
          upstream: { ...upstream, shape: 'answer' },
        };
    return Object.assign(trace, ways, { cache: kept });
  });

describe('the line of a good answer of the upstream', () => {
  it('is byte for byte that of the logger', () => {
    const line = createPlainLine(clock);
    const target = fc.oneof(fc.webPath(), text, fc.constant(TEMPLATE), fc.constant(`${TEMPLATE}?q=x`));
    fc.assert(
      fc.property(fetched, target, fc.option(text, { nil: undefined }), (trace, asked, caller) => {
        const facts =
          trace.operation === undefined ? { target: asked, caller } : { template: `/${trace.operation}.json`, caller };
        const made = line(trace, facts);
        expect(made).toBeDefined();
        expect(made).toBe(logged(trace, facts));
      }),
      { numRuns: 500 },
    );
  });

  it('is not mixed up with that of an answer from memory, nor with that of a path past the contract', () => {
    const line = createPlainLine(clock);
    const upstream = { status: 200, shape: 'answer', seconds: 0, attempts: 1 };
    const traces: readonly [Trace, LineFacts][] = [
      [plainTrace(), AT],
      [plainTrace({ route: 'plan', upstream }), AT],
      [
        plainTrace({
          route: 'passthrough',
          operation: undefined,
          cache: undefined,
          upstream: { ...upstream, shape: 'passed' },
        }),
        { target: TEMPLATE },
      ],
    ];
    for (const [trace, facts] of [...traces, ...traces]) expect(line(trace, facts)).toBe(logged(trace, facts));
  });
});

describe('the line of a good answer from memory', () => {
  it('is byte for byte that of the logger, whatever names and numbers it holds', () => {
    const line = createPlainLine(clock);
    fc.assert(
      fc.property(plain, fc.option(text, { nil: undefined }), (trace, caller) => {
        // One operation has one template.
        const template = `/${trace.operation}.json`;
        const made = line(trace, { template, caller });
        expect(made).toBe(logged(trace, { template, caller }));
        expect(made?.indexOf('\n')).toBe((made?.length ?? 0) - 1);
      }),
      { numRuns: 500 },
    );
  });

  it('tells nothing but what the trace line does', () => {
    const made = createPlainLine(clock)(plainTrace({ caller: 'alice' }), { template: TEMPLATE, caller: 'tag' }) ?? '';
    expect(JSON.parse(made)).toEqual({
      level: 'info',
      time: '2023-11-14T22:13:21.234Z',
      requestId: 'req-1',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      operation: 'listQuestions',
      method: 'GET',
      path: TEMPLATE,
      status: 200,
      seconds: 0.004,
      bytes: 1234,
      principal: 'verified',
      caller: 'tag',
      cache: 'hit',
      msg: 'request',
    });
  });

  it('has the time of its writing', () => {
    let now = 0;
    const line = createPlainLine(() => now);
    const times = [0, 0, 1_000, 999, 1_700_000_000_000].map((at) => {
      now = at;
      return (JSON.parse(line(plainTrace(), AT) ?? '') as { time: string }).time;
    });
    expect(times).toEqual([0, 0, 1_000, 999, 1_700_000_000_000].map((at) => new Date(at).toISOString()));
  });

  it('is right after more names than are remembered', () => {
    const line = createPlainLine(clock);
    for (let number = 0; number < 2500; number += 1) {
      const caller = `caller "${number}"`;
      const made = line(plainTrace(), { template: TEMPLATE, caller });
      if (number % 500 === 0) expect(made).toBe(logged(plainTrace(), { template: TEMPLATE, caller }));
    }
    expect(line(plainTrace(), { template: TEMPLATE, caller: 'caller "0"' })).toContain('"caller":"caller \\"0\\""');
  });
});

describe('a request of which more is to be said', () => {
  it.each(Object.entries(MORE))('has no plain line: %s', (_what, more) => {
    const line = createPlainLine(clock);
    expect(line(plainTrace(), AT)).toBeDefined();
    expect(line(plainTrace(more), AT)).toBeUndefined();
  });

  it.each(ABSENT)('has none without %s', (name) => {
    const trace = plainTrace();
    delete trace[name];
    expect(createPlainLine(clock)(trace, AT)).toBeUndefined();
  });

  it('has none without a place', () => {
    expect(createPlainLine(clock)(plainTrace(), { caller: 'alice' })).toBeUndefined();
  });

  // Two parts can also add up to a good answer of the upstream.
  it('has none, or the logger’s own, whatever else is true of it', () => {
    const line = createPlainLine(clock);
    const more = fc.subarray(Object.values(MORE), { minLength: 1 });
    fc.assert(
      fc.property(plain, more, (trace, parts) => {
        const whole = Object.assign(trace, ...parts) as Trace;
        expect([undefined, logged(whole, AT)]).toContain(line(whole, AT));
      }),
      { numRuns: 500 },
    );
  });
});

describe('the access log', () => {
  it('writes the same line of a plain trace and of any other, as far as they say the same', () => {
    fc.assert(
      fc.property(plain, fc.subarray(Object.values(MORE)), text, (trace, parts, caller) => {
        const whole = Object.assign(trace, ...parts) as Trace;
        const level = (whole.status ?? 0) >= 500 ? 'error' : 'info';
        const expected = logged(whole, { template: TEMPLATE, caller });
        expect(written(whole, caller)).toBe(expected.replace('"level":"info"', `"level":"${level}"`));
      }),
      { numRuns: 300 },
    );
  });
});

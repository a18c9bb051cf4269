import { describe, expect, it } from 'vitest';
import { createLedger } from '../../src/ledger/memory-ledger.ts';
import { createTrace, type Trace } from '../../src/model/trace.ts';
import type { Violation } from '../../src/model/violation.ts';

const violation = (more: Partial<Violation> = {}): Violation => ({
  check: 'responses',
  direction: 'response',
  category: 'type',
  location: 'body',
  at: '/list/3/id',
  keyword: 'type',
  schemaPath: '#/properties/id/type',
  message: 'must be an integer',
  ...more,
});

let made = 0;
const traceWith = (violations: Violation[], more: Partial<Trace> = {}): Trace => {
  made += 1;
  const start = { requestId: `req-${made}`, traceparent: '', method: 'GET', startedAt: 1 };
  const upstream = { status: 200, shape: 'json', seconds: 0.1, attempts: 1 };
  return { ...createTrace(start), operation: 'listQuestions', upstream, ...more, violations };
};

function ledgerAt(instants: number[], maxEntries?: number) {
  const rest = [...instants];
  const clock = () => rest.shift() ?? instants.at(-1) ?? 1;
  return createLedger({ clock, ...(maxEntries !== undefined && { maxEntries }) });
}

describe('the ledger', () => {
  it('keeps one entry for the same difference at other indices, with counts and times', () => {
    const ledger = ledgerAt([1000, 2000]);
    ledger.record(traceWith([violation({ at: '/list/3/id' }), violation({ at: '/list/4/id' })]));
    ledger.record(traceWith([violation({ at: '/list/0/id' })]));
    expect(ledger.entries()).toMatchObject([
      {
        at: '/list/*/id',
        count: 3,
        firstSeenAt: 1000,
        lastSeenAt: 2000,
        statusClass: '2xx',
        operation: 'listQuestions',
      },
    ]);
  });

  it.each([
    ['operation', violation(), { operation: 'listIdeas' }],
    ['status class', violation(), { upstream: { status: 404, shape: 'json', seconds: 0, attempts: 1 } }],
    ['keyword', violation({ keyword: 'required' }), {}],
    ['schema path', violation({ schemaPath: '#/other' }), {}],
    ['place', violation({ at: '/list/3/title' }), {}],
    ['direction', violation({ direction: 'request' }), {}],
  ] as const)('tells differences apart by %s', (_what, other, more) => {
    const ledger = ledgerAt([1000]);
    ledger.record(traceWith([violation()]));
    ledger.record(traceWith([other], more));
    expect(ledger.size()).toBe(2);
    expect(new Set(ledger.entries().map((entry) => entry.fingerprint)).size).toBe(2);
  });

  it('gives the same difference the same fingerprint in another process', () => {
    const [one, two] = [ledgerAt([1]), ledgerAt([2])];
    one.record(traceWith([violation()]));
    two.record(traceWith([violation()]));
    expect(one.entries()[0]?.fingerprint).toBe(two.entries()[0]?.fingerprint);
  });

  it('keeps the ids of five requests, the latest last', () => {
    const ledger = ledgerAt([1]);
    const traces = Array.from({ length: 8 }, () => traceWith([violation(), violation()]));
    traces.forEach((trace) => ledger.record(trace));
    expect(ledger.entries()[0]?.requestIds).toEqual(traces.slice(-5).map((trace) => trace.requestId));
  });

  it('is bounded, drops the least recently seen and says how many it dropped', () => {
    const ledger = ledgerAt([1, 2, 3, 4, 5], 4);
    for (const keyword of ['a', 'b', 'a', 'c']) ledger.record(traceWith([violation({ keyword })]));
    expect(ledger.entries().map((entry) => entry.keyword)).toEqual(['c', 'a']);
    expect(ledger.dropped()).toBe(1);
  });

  it('does not lose what is known of answers to callers who invent parameter names', () => {
    const ledger = ledgerAt([1], 10);
    ledger.record(traceWith([violation()]));
    for (let index = 0; index < 100; index++)
      ledger.record(
        traceWith([
          violation({ direction: 'request', location: 'query', at: `name${'x'.repeat(index % 50)}a${index}b` }),
        ]),
      );
    expect(ledger.entries().filter((entry) => entry.direction === 'response')).toHaveLength(1);
    expect(ledger.size()).toBeLessThanOrEqual(10);
  });

  it('holds no name or sentence that a caller could have put there', () => {
    const ledger = ledgerAt([1]);
    const at = 'alice@example.org';
    ledger.record(
      traceWith([violation({ direction: 'request', location: 'query', at, message: `unknown parameter ${at}` })]),
    );
    expect(JSON.stringify(ledger.entries())).not.toContain('alice');
  });

  it('hands out copies', () => {
    const ledger = ledgerAt([1]);
    ledger.record(traceWith([violation()]));
    for (const entry of ledger.entries()) (entry.requestIds as string[]).push('planted');
    expect(ledger.entries()[0]?.requestIds).not.toContain('planted');
  });
});

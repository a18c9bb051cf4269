import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { beginTrace } from '../../src/http/record-trace.ts';
import type { Trace } from '../../src/model/trace.ts';
import type { Plan } from '../../src/pipeline/plan.ts';
import type { AccessEntry } from '../../src/telemetry/access-log.ts';
import { plannedWith } from '../builders/exchange.ts';

const identity = { requestId: 'r', traceparent: 't', tracestate: undefined, receivedAt: 5_000 };

function begun(response: { writableFinished: boolean; statusCode: number }, now = 7_500) {
  const recorded: Trace[] = [];
  const entries: (() => AccessEntry)[] = [];
  const events = Object.assign(new EventEmitter(), response);
  const request = { method: 'GET', url: '/a?b' } as Request;
  const plan: Plan = { ...plannedWith(), stages: [], handle: () => Promise.reject(new Error('not asked')) };
  const trace = beginTrace(request, events as unknown as Response, identity, {
    house: { plans: new Map([['listThings', plan]]) },
    accessLog: {
      watch: (_request, _response, entry) => void entries.push(entry),
      write: (entry) => void entries.push(() => entry),
    },
    record: (done) => recorded.push(done),
    clock: () => now,
  });
  return { trace, recorded, entry: () => entries[0]?.(), close: () => events.emit('close') };
}

describe('the trace of a request', () => {
  it('is complete when it is recorded, which happens once', () => {
    const { trace, recorded, close } = begun({ writableFinished: true, statusCode: 201 });
    expect(recorded).toEqual([]);
    close();
    close();
    expect(recorded).toEqual([trace]);
    expect(trace).toMatchObject({ requestId: 'r', startedAt: 5_000, status: 201, seconds: 2.5 });
  });

  it('has no status when the client did not get the whole answer', () => {
    const { trace, close } = begun({ writableFinished: false, statusCode: 200 });
    close();
    expect(trace.status).toBe(0);
  });

  it('has no negative duration when the clock was set back', () => {
    const { trace, close } = begun({ writableFinished: true, statusCode: 200 }, 1_000);
    close();
    expect(trace.seconds).toBe(0);
  });

  it('gives the log the template of its operation, known only later, and who asked', () => {
    const { trace, entry } = begun({ writableFinished: true, statusCode: 200 });
    expect(entry()).toMatchObject({ trace, template: undefined, target: '/a?b', caller: undefined });
    trace.operation = 'listThings';
    trace.caller = 'alice';
    expect(entry()).toMatchObject({ template: '/services/v2/thing.json', caller: 'alice' });
  });
});

import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { beginTrace, recordAtClose, recordAtEnd } from '../../src/http/record-trace.ts';
import { createTrace, type Trace } from '../../src/model/trace.ts';
import type { Plan } from '../../src/pipeline/plan.ts';
import type { AccessEntry } from '../../src/telemetry/access-log.ts';
import { plannedWith } from '../builders/exchange.ts';

const identity = { requestId: 'r', traceparent: 't', tracestate: undefined, receivedAt: 5_000 };

function begun(
  response: { writableFinished: boolean; statusCode: number },
  now = 7_500,
  record: (done: Trace) => void = () => undefined,
) {
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
    record: (done) => {
      recorded.push(done);
      record(done);
    },
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

  // The attack: whatever makes a metric or the ledger throw. It would be thrown while a response closes, and end the process.
  it('says so in its own line when it cannot be recorded, and throws at nobody', () => {
    const mistake = new Error('full');
    const { trace, close } = begun({ writableFinished: true, statusCode: 200 }, 7_500, () => {
      throw mistake;
    });
    close();
    expect(trace).toMatchObject({ status: 200, cause: mistake });
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

interface FakeResponse {
  readonly statusCode: number;
  readonly writableEnded?: boolean;
  readonly writableFinished?: boolean;
  readonly destroyed?: boolean;
  readonly closed?: boolean;
  readonly socket?: { readonly writableLength: number } | null;
}

/** A recognised request that one of the two sees to. */
function recognised(see: typeof recordAtClose, response: FakeResponse) {
  const recorded: Trace[] = [];
  const entries: AccessEntry[] = [];
  const events = Object.assign(new EventEmitter(), { writableFinished: false, closed: false, ...response });
  const trace = createTrace({ requestId: 'r', traceparent: 't', method: 'GET', startedAt: 5_000 });
  trace.caller = 'alice';
  see(trace, { url: '/a?b' }, events as unknown as Response, plannedWith().operation.path, {
    house: { plans: new Map() },
    accessLog: { watch: () => undefined, write: (entry) => void entries.push(entry) },
    record: (done) => recorded.push(structuredClone(done)),
    clock: () => 7_500,
  });
  const close = (writableFinished: boolean) => {
    events.writableFinished = writableFinished;
    events.emit('close');
  };
  return { recorded, entries, close };
}

const ENDED: FakeResponse = { statusCode: 200, writableEnded: true, destroyed: false, socket: { writableLength: 0 } };

describe('a recognised request', () => {
  it('is recorded and logged at once where all of its answer is in the hands of the system, and not again', () => {
    const { recorded, entries, close } = recognised(recordAtEnd, ENDED);
    expect(recorded).toMatchObject([{ status: 200, seconds: 2.5 }]);
    expect(entries).toMatchObject([{ template: '/services/v2/thing.json', target: '/a?b', caller: 'alice' }]);
    close(true);
    expect([recorded.length, entries.length]).toEqual([1, 1]);
  });

  it.each([
    ['that has not ended', { ...ENDED, writableEnded: false }],
    ['of which a part waits', { ...ENDED, socket: { writableLength: 1 } }],
    ['that waits for the one before it', { ...ENDED, socket: null }],
    ['that was broken off', { ...ENDED, destroyed: true }],
  ])('is recorded when its response closes for an answer %s', (_which, response) => {
    for (const whole of [true, false]) {
      const { recorded, entries, close } = recognised(recordAtEnd, response);
      expect([recorded, entries]).toEqual([[], []]);
      close(whole);
      close(whole);
      expect(recorded.map(({ status }) => status)).toEqual([whole ? 200 : 0]);
      expect(entries).toHaveLength(1);
    }
  });

  it.each([recordAtClose, recordAtEnd])('is recorded at once where its response has closed already', (see) => {
    const response = { statusCode: 200, destroyed: true, closed: true, socket: null };
    expect(recognised(see, response).recorded).toMatchObject([{ status: 0 }]);
    expect(recognised(see, { ...response, writableFinished: true }).recorded).toMatchObject([{ status: 200 }]);
  });

  it('is recorded when its response closes, not before, where that is asked for', () => {
    const { recorded, close } = recognised(recordAtClose, ENDED);
    expect(recorded).toEqual([]);
    close(true);
    expect(recorded).toMatchObject([{ status: 200 }]);
  });
});

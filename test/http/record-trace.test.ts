import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { recordAtClose, recordAtEnd } from '../../src/http/record-trace.ts';
import { createTrace, type Trace } from '../../src/model/trace.ts';
import type { Plan } from '../../src/pipeline/plan.ts';
import type { AccessEntry } from '../../src/telemetry/access-log.ts';
import { plannedWith } from '../builders/exchange.ts';

interface FakeResponse {
  readonly statusCode: number;
  readonly writableEnded?: boolean;
  readonly writableFinished?: boolean;
  readonly destroyed?: boolean;
  readonly closed?: boolean;
  readonly socket?: { readonly writableLength: number } | null;
}

/** A request that one of the two records. */
function recording(
  see: typeof recordAtClose,
  response: FakeResponse,
  { now = 7_500, record = () => undefined }: { readonly now?: number; readonly record?: (done: Trace) => void } = {},
) {
  const recorded: Trace[] = [];
  const entries: AccessEntry[] = [];
  const events = Object.assign(new EventEmitter(), { writableFinished: false, closed: false, ...response });
  const trace = createTrace({ requestId: 'r', traceparent: 't', method: 'GET', startedAt: 5_000 });
  const plan: Plan = { ...plannedWith(), stages: [], handle: () => Promise.reject(new Error('not asked')) };
  const request = { arrival: { rawTarget: '/a?b' }, res: events as unknown as ServerResponse, trace };
  see(request, {
    gateway: { plans: new Map([['listThings', plan]]) },
    accessLog: { write: (entry) => void entries.push(entry) },
    record: (done) => {
      recorded.push(structuredClone(done));
      record(done);
    },
    clock: () => now,
  });
  const close = (writableFinished: boolean) => {
    events.writableFinished = writableFinished;
    events.emit('close');
  };
  return { trace, recorded, entries, close };
}

const ENDED: FakeResponse = { statusCode: 200, writableEnded: true, destroyed: false, socket: { writableLength: 0 } };

describe('the trace of a request', () => {
  it('is complete when it is recorded, which happens once', () => {
    const { recorded, entries, close } = recording(recordAtClose, { statusCode: 201 });
    expect(recorded).toEqual([]);
    close(true);
    close(true);
    expect(recorded).toMatchObject([{ requestId: 'r', startedAt: 5_000, status: 201, seconds: 2.5 }]);
    expect(entries).toHaveLength(1);
  });

  // The attack: whatever makes a metric or the ledger throw. It would be thrown while a response closes, and end the process.
  it('says so in its own line when it cannot be recorded, and throws at nobody', () => {
    const mistake = new Error('full');
    const record = () => {
      throw mistake;
    };
    for (const [see, response] of [
      [recordAtClose, { statusCode: 200 }],
      [recordAtEnd, ENDED],
    ] as const) {
      const { trace, entries, close } = recording(see, response, { record });
      close(true);
      expect(trace).toMatchObject({ status: 200, cause: mistake });
      expect(entries).toHaveLength(1);
    }
  });

  it('has no status when the client did not get the whole response', () => {
    const { recorded, close } = recording(recordAtClose, { statusCode: 200 });
    close(false);
    expect(recorded).toMatchObject([{ status: 0 }]);
  });

  it('has no negative duration when the clock was set back', () => {
    const { recorded, close } = recording(recordAtClose, { statusCode: 200 }, { now: 1_000 });
    close(true);
    expect(recorded).toMatchObject([{ seconds: 0 }]);
  });

  it('is logged with the target as it came, the template of its operation and its caller, known only later', () => {
    const undocumented = recording(recordAtClose, { statusCode: 200 });
    undocumented.close(true);
    expect(undocumented.entries).toEqual([
      { trace: undocumented.trace, template: undefined, target: '/a?b', caller: undefined },
    ]);
    const { trace, entries, close } = recording(recordAtClose, { statusCode: 200 });
    trace.operation = 'listThings';
    trace.caller = 'alice';
    close(true);
    expect(entries).toMatchObject([{ template: '/services/v2/thing.json', target: '/a?b', caller: 'alice' }]);
  });
});

describe('a response that was written in one piece', () => {
  it('is recorded and logged at once where the operating system has all of it, and not again', () => {
    const { recorded, entries, close } = recording(recordAtEnd, ENDED);
    expect(recorded).toMatchObject([{ status: 200, seconds: 2.5 }]);
    expect(entries).toHaveLength(1);
    close(true);
    expect([recorded.length, entries.length]).toEqual([1, 1]);
  });

  it.each([
    ['that has not ended', { ...ENDED, writableEnded: false }],
    ['of which a part waits', { ...ENDED, socket: { writableLength: 1 } }],
    ['that waits for the one before it', { ...ENDED, socket: null }],
    ['that was broken off', { ...ENDED, destroyed: true }],
  ])('is recorded when it closes where it is one %s', (_which, response) => {
    for (const whole of [true, false]) {
      const { recorded, entries, close } = recording(recordAtEnd, response);
      expect([recorded, entries]).toEqual([[], []]);
      close(whole);
      close(whole);
      expect(recorded.map(({ status }) => status)).toEqual([whole ? 200 : 0]);
      expect(entries).toHaveLength(1);
    }
  });

  it.each([recordAtClose, recordAtEnd])('is recorded at once where it has closed already', (see) => {
    const response = { statusCode: 200, destroyed: true, closed: true, socket: null };
    expect(recording(see, response).recorded).toMatchObject([{ status: 0 }]);
    expect(recording(see, { ...response, writableFinished: true }).recorded).toMatchObject([{ status: 200 }]);
  });

  it('is recorded when it closes, not before, where that is asked for', () => {
    const { recorded, close } = recording(recordAtClose, ENDED);
    expect(recorded).toEqual([]);
    close(true);
    expect(recorded).toMatchObject([{ status: 200 }]);
  });
});

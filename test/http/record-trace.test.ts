import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { recordAtClose, recordAtEnd } from '../../src/http/record-trace.ts';
import { createTrace, type Trace } from '../../src/model/trace.ts';

interface FakeResponse {
  readonly statusCode: number;
  readonly writableEnded?: boolean;
  readonly writableFinished?: boolean;
  readonly destroyed?: boolean;
  readonly closed?: boolean;
  readonly socket?: { readonly writableLength: number } | null;
}

/** A request that one of the two records. */
function recording(see: typeof recordAtClose, response: FakeResponse, { now = 7_500 }: { readonly now?: number } = {}) {
  const recorded: Trace[] = [];
  const events = Object.assign(new EventEmitter(), { writableFinished: false, closed: false, ...response });
  const trace = createTrace({ requestId: 'r', traceparent: 't', method: 'GET', startedAt: 5_000 });
  const request = { res: events as unknown as ServerResponse, trace };
  see(request, {
    record: (done) => void recorded.push(structuredClone(done)),
    clock: () => now,
  });
  const close = (writableFinished: boolean) => {
    events.writableFinished = writableFinished;
    events.emit('close');
  };
  return { recorded, close };
}

const ENDED: FakeResponse = { statusCode: 200, writableEnded: true, destroyed: false, socket: { writableLength: 0 } };

describe('the trace of a request', () => {
  it('is complete when it is recorded, which happens once', () => {
    const { recorded, close } = recording(recordAtClose, { statusCode: 201 });
    expect(recorded).toEqual([]);
    close(true);
    close(true);
    expect(recorded).toMatchObject([{ requestId: 'r', startedAt: 5_000, status: 201, seconds: 2.5 }]);
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
});

describe('a response that was written in one piece', () => {
  it('is recorded at once where the operating system has all of it, and not again', () => {
    const { recorded, close } = recording(recordAtEnd, ENDED);
    expect(recorded).toMatchObject([{ status: 200, seconds: 2.5 }]);
    close(true);
    expect(recorded).toHaveLength(1);
  });

  it.each([
    ['that has not ended', { ...ENDED, writableEnded: false }],
    ['of which a part waits', { ...ENDED, socket: { writableLength: 1 } }],
    ['that waits for the one before it', { ...ENDED, socket: null }],
    ['that was broken off', { ...ENDED, destroyed: true }],
  ])('is recorded when it closes where it is one %s', (_which, response) => {
    for (const whole of [true, false]) {
      const { recorded, close } = recording(recordAtEnd, response);
      expect(recorded).toEqual([]);
      close(whole);
      close(whole);
      expect(recorded.map(({ status }) => status)).toEqual([whole ? 200 : 0]);
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

import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../../src/features/levels/level-entry.ts';
import { createRefusalWatch, createResponseWindows } from '../../../src/features/levels/traffic-watch.ts';
import { createTrace, type Trace } from '../../../src/engine/model/trace.ts';
import { NOW } from './entries.ts';

describe('the window of responses', () => {
  const OPTIONS = { enabled: true, share: 0.5, windowSeconds: 60, minAnswers: 10 };

  function windows() {
    const made = createResponseWindows(OPTIONS, ['listIdeas']);
    return (count: number, failed: boolean, { caller = 'alice', at = NOW, operation = 'listIdeas' } = {}) => {
      let evidence: Evidence | undefined;
      for (let index = 0; index < count; index += 1) evidence ??= made.take(operation, { caller, failed }, at);
      return evidence;
    };
  }

  it('reports when the share is exceeded with enough responses, not when it is reached', () => {
    const take = windows();
    take(10, false);
    expect(take(10, true)).toBeUndefined();
    expect(take(1, true)).toEqual({ judged: 21, failed: 11, windowSeconds: 60 });
  });

  it('ignores the share of too few responses', () => {
    const take = windows();
    expect(take(9, true)).toBeUndefined();
    expect(take(1, true)).toBeDefined();
  });

  const HOUR = 3_600_000;

  it('reports at one response an hour if all of them fail', () => {
    const take = windows();
    const reports = Array.from({ length: 5 }, (_, index) => take(1, true, { at: NOW + index * HOUR }));
    expect(reports).toEqual([...Array.from({ length: 4 }), { judged: 5, failed: 5, windowSeconds: 4 * 3600 }]);
  });

  it('does not report a few failures among the last responses of an operation with little traffic', () => {
    const take = windows();
    const reports = Array.from({ length: 20 }, (_, index) => take(1, index % 2 === 0, { at: NOW + index * HOUR }));
    expect(reports.filter((report) => report !== undefined)).toEqual([]);
  });

  it('considers only the last responses of one day', () => {
    const take = windows();
    expect(take(4, true)).toBeUndefined();
    expect(take(1, true, { at: NOW + 24 * HOUR })).toBeUndefined();
  });

  it('is not affected by one caller at little traffic if the others have some valid responses', () => {
    const take = windows();
    take(5, false, { caller: 'bob' });
    for (let hour = 1; hour < 20; hour += 1)
      expect(take(1, true, { caller: 'mallory', at: NOW + hour * HOUR })).toBeUndefined();
  });

  it('ignores responses that are in the future because the clock was set back', () => {
    const take = windows();
    take(9, true, { at: NOW + 30_000 });
    expect(take(9, true)).toBeUndefined();
    expect(take(1, true)).toEqual({ judged: 10, failed: 10, windowSeconds: 60 });
  });

  it('restarts after a report', () => {
    const take = windows();
    expect(take(10, true)).toBeDefined();
    expect(take(9, true)).toBeUndefined();
  });

  it('is not affected by one caller if the others have enough valid responses', () => {
    const take = windows();
    take(10, false, { caller: 'bob' });
    expect(take(500, true, { caller: 'mallory' })).toBeUndefined();
  });

  it('is affected by one caller if the others have too few responses', () => {
    const take = windows();
    take(9, false, { caller: 'bob' });
    expect(take(11, true, { caller: 'mallory' })).toMatchObject({ judged: 19, failed: 10 });
  });

  it('reports if the responses to the others fail too', () => {
    const take = windows();
    take(10, false, { caller: 'bob' });
    expect(take(100, true, { caller: 'dave' })).toBeUndefined();
    expect(take(10, true, { caller: 'bob' })).toBeUndefined();
    expect(take(1, true, { caller: 'bob' })).toMatchObject({ judged: 121, failed: 111 });
  });

  it('distinguishes a bounded number of callers, and treats all others as one', () => {
    const take = windows();
    for (let index = 0; index < 64; index += 1) take(1, false, { caller: `caller ${index}` });
    for (let index = 0; index < 200; index += 1)
      expect(take(1, true, { caller: `another caller ${index}` })).toBeUndefined();
  });

  it('ignores other operations', () => {
    const take = windows();
    expect(take(100, true, { operation: 'listUsers' })).toBeUndefined();
  });
});

describe('the refusal watch', () => {
  const OPTIONS = { enabled: true, share: 0.5, windowSeconds: 60, minAnswers: 4 } as const;

  function refusedFor(error: string): Trace {
    const trace = createTrace({ requestId: 'r', traceparent: '', method: 'GET', startedAt: NOW });
    const authentication = { level: 'enforce', outcome: 'refused' } as const;
    return Object.assign(trace, { operation: 'listIdeas', authentication, error });
  }

  const alertsAfter = (error: string) => {
    const watch = createRefusalWatch(OPTIONS, ['listIdeas']);
    return Array.from({ length: 8 }, () => watch.take(refusedFor(error), NOW)).filter((alert) => alert !== undefined);
  };

  it.each(['credentials_refused', 'credentials_required', 'too_many_attempts'])('reports many %s, once', (error) => {
    expect(alertsAfter(error)).toMatchObject([
      { operation: 'listIdeas', check: 'authentication', judged: 4, failed: 4 },
    ]);
  });

  it('ignores background work, which no client waits for', () => {
    const watch = createRefusalWatch(OPTIONS, ['listIdeas']);
    const inBackground = { ...refusedFor('credentials_refused'), background: true };
    const alerts = Array.from({ length: 8 }, () => watch.take(inBackground, NOW));
    expect(alerts.filter((alert) => alert !== undefined)).toEqual([]);
  });

  it('does not report a share that is reached but not exceeded', () => {
    const watch = createRefusalWatch(OPTIONS, ['listIdeas']);
    const passed = { ...refusedFor('credentials_refused'), error: undefined };
    for (let index = 0; index < 4; index += 1) watch.take(passed, NOW);
    const alerts = Array.from({ length: 5 }, () => watch.take(refusedFor('credentials_refused'), NOW));
    expect(alerts.map((alert) => alert?.failed)).toEqual([undefined, undefined, undefined, undefined, 5]);
  });

  it('reports again after the clock was set back', () => {
    const watch = createRefusalWatch(OPTIONS, ['listIdeas']);
    const refuse = (at: number) => Array.from({ length: 4 }, () => watch.take(refusedFor('credentials_refused'), at));
    expect(refuse(NOW).at(-1)).toBeDefined();
    expect(refuse(NOW - 59_000).at(-1)).toBeUndefined();
    expect(refuse(NOW - 3_600_000).at(-1)).toBeDefined();
  });

  it('does not report credentials that could not be verified because the upstream is down', () => {
    expect(alertsAfter('verification_unavailable')).toEqual([]);
  });
});

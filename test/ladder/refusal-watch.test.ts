import { describe, expect, it } from 'vitest';
import { createRefusalWatch } from '../../src/ladder/refusal-watch.ts';
import { createTrace, type Trace } from '../../src/model/trace.ts';
import { NOW } from './levels.ts';

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

describe('the refusal watch', () => {
  it.each(['credentials_refused', 'credentials_required', 'too_many_attempts'])('reports many %s, once', (error) => {
    expect(alertsAfter(error)).toMatchObject([
      { operation: 'listIdeas', check: 'authentication', judged: 4, failed: 4 },
    ]);
  });

  it('does not report credentials that could not be verified because the upstream is down', () => {
    expect(alertsAfter('verification_unavailable')).toEqual([]);
  });
});

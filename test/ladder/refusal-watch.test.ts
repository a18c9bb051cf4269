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

describe('the watch over refusals', () => {
  it.each(['credentials_refused', 'credentials_required', 'too_many_attempts'])('tells of many %s, once', (error) => {
    expect(alertsAfter(error)).toMatchObject([
      { operation: 'listIdeas', check: 'authentication', judged: 4, failed: 4 },
    ]);
  });

  it('tells nothing of credentials that could not be verified: the upstream is down, and nobody was refused', () => {
    expect(alertsAfter('verification_unavailable')).toEqual([]);
  });
});

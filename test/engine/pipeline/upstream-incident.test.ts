import { describe, expect, it } from 'vitest';
import { UpstreamFailure } from '../../../src/engine/model/upstream-failure.ts';
import { recordFailure, recordServerError } from '../../../src/engine/pipeline/upstream-incident.ts';
import { traceWith } from '../../builders/exchange.ts';

describe('an upstream failure', () => {
  it.each(['refused', 'reset', 'truncated', 'deadline', 'shed', 'circuit_open', 'too_large'] as const)(
    '%s is an incident, not a violation, with its kind as the keyword',
    (kind) => {
      const trace = traceWith();
      recordFailure(trace, new UpstreamFailure(kind));
      // The gateway's own limit on size is not a fault of the server.
      const category = kind === 'too_large' ? 'size' : 'protocol';
      expect(trace.violations).toEqual([]);
      expect(trace.incidents).toMatchObject([
        { check: 'upstream', direction: 'response', category, location: 'status', at: '', keyword: kind },
      ]);
    },
  );

  it('does not include a client that disconnected', () => {
    const trace = traceWith();
    recordFailure(trace, new UpstreamFailure('aborted'));
    expect(trace.incidents).toBeUndefined();
  });

  it('includes a failing status', () => {
    const trace = traceWith();
    recordServerError(trace);
    expect(trace.incidents).toMatchObject([{ check: 'upstream', category: 'protocol', keyword: 'server-error' }]);
  });
});

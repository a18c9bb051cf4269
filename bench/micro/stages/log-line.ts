import { systemClock } from '../../../src/lib/clock.ts';
import { createPlainLine } from '../../../src/telemetry/plain-line.ts';
import type { Stage } from '../stage.ts';

/** The text of the access log for a hit. */
export const logLine: Stage = {
  name: 'log line',
  what: 'text of the line of a hit; many of them share one write',
  paidBy: 'hit',
  prepare: ({ plan, trace }) => {
    const line = createPlainLine(systemClock);
    const facts = { template: plan.operation.path, caller: 'tag' };
    if (line(trace, facts) === undefined) throw new Error('the trace of the hit gets no plain line');
    return { run: () => line(trace, facts) };
  },
};

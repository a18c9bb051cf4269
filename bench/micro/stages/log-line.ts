import { systemClock } from '../../../src/lib/clock.ts';
import { createAccessLog } from '../../../src/engine/telemetry/logs.ts';
import type { Stage } from '../stage.ts';

/** The stage that creates the access log line for a hit. */
export const logLine: Stage = {
  name: 'log line',
  what: 'accessLog.record for a hit, with a stream that discards its input; many lines share one write',
  paidBy: 'hit',
  prepare: ({ plan, trace }) => {
    const lines: string[] = [];
    const stream = { write: (line: string) => void (lines[0] = line) };
    const log = createAccessLog({
      operations: [plan.operation],
      pathWords: new Set(),
      stream,
      level: 'info',
      clock: systemClock,
      principalNames: false,
      fingerprintOf: () => '',
    });
    log.record(trace);
    if (lines[0] === undefined) throw new Error('the hit is not logged');
    return { run: () => log.record(trace) };
  },
};

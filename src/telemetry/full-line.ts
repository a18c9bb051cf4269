import type { Clock } from '../lib/clock.ts';
import type { Trace } from '../model/trace.ts';
import { createLogTime } from './log-time.ts';
import { type LineFacts, traceLine } from './trace-line.ts';

/** Makes the writer of the line of any request, line break included: the logger's text, without its walk through every member. */
export function createFullLine(clock: Clock): (trace: Trace, facts: LineFacts) => string {
  const time = createLogTime(clock);
  return (trace, facts) => {
    const level = (trace.status ?? 0) >= 500 ? 'error' : 'info';
    const members = JSON.stringify(traceLine(trace, facts)).slice(1, -1);
    return `{"level":"${level}","time":"${time()}",${members},"msg":"request"}\n`;
  };
}

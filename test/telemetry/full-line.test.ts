import { describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { createFullLine } from '../../src/telemetry/full-line.ts';
import { loggerOptions } from '../../src/telemetry/logger.ts';
import { traceLine } from '../../src/telemetry/trace-line.ts';
import { finishedTrace } from './fixed-trace.ts';

const clock = () => 1_700_000_001_000;

describe('the line of any request', () => {
  it.each([
    ['a success', finishedTrace({ status: 200 })],
    ['a failure of ours', finishedTrace({ status: 502, error: 'upstream_reset' })],
    ['one that the client left', finishedTrace({ status: 0 })],
    ['an error with its cause', finishedTrace({ status: 500, cause: new TypeError('x') })],
    ['a caller whose name needs escaping', finishedTrace({ caller: 'a"b\\c\u2028\n' })],
  ])("is byte for byte the logger's: %s", (_what, trace) => {
    let logged = '';
    const logger = pino(loggerOptions({ level: 'info', clock }), { write: (text: string) => void (logged += text) });
    const facts = { template: '/services/v2/question.json', caller: trace.caller };
    logger[(trace.status ?? 0) >= 500 ? 'error' : 'info'](traceLine(trace, facts), 'request');
    expect(createFullLine(clock)(trace, facts)).toBe(logged);
  });
});

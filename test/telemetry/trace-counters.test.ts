import { describe, expect, it } from 'vitest';
import { spendsErrorBudget } from '../../src/telemetry/trace-counters.ts';

const upstream = (shape: string, status?: number) => ({ status, shape, seconds: 1, attempts: 1 });

describe('the error budget', () => {
  it.each([
    ['an answer with 500', { status: 500 }],
    ['a failure of the upstream that became 502', { status: 502, upstream: upstream('refused') }],
    ['a connection broken because the upstream broke off', { status: 0, upstream: upstream('truncated') }],
  ])('is spent by %s', (_, trace) => expect(spendsErrorBudget(trace)).toBe(true));

  it.each([
    ['an answer with 200', { status: 200 }],
    ['a mistake of the client', { status: 404, upstream: upstream('error', 404) }],
    ['a kept page that stood in for a failed upstream', { status: 200, upstream: upstream('refused') }],
    ['a coding that nobody knows', { status: 501, error: 'unknown_transfer_coding' }],
    ['a client that left', { status: 0, upstream: upstream('aborted') }],
    ['a client that left before the upstream was asked', { status: 0 }],
    ['a client that left in the middle of an answer', { status: 0, upstream: upstream('answer', 200) }],
  ])('is not spent by %s', (_, trace) => expect(spendsErrorBudget(trace)).toBe(false));
});

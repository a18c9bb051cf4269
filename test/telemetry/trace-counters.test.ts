import { describe, expect, it } from 'vitest';
import { spendsErrorBudget } from '../../src/telemetry/trace-counters.ts';

const upstream = (shape: string, status?: number) => ({ status, shape, seconds: 1, attempts: 1 });

describe('the error budget', () => {
  it.each([
    ['a response with 500', { status: 500 }],
    ['an upstream failure that became a 502', { status: 502, upstream: upstream('refused') }],
    ['a connection closed because the upstream broke off', { status: 0, upstream: upstream('truncated') }],
  ])('is spent by %s', (_, trace) => expect(spendsErrorBudget(trace)).toBe(true));

  it.each([
    ['a response with 200', { status: 200 }],
    ['a client error', { status: 404, upstream: upstream('error', 404) }],
    ['a stored page that replaced a failed upstream response', { status: 200, upstream: upstream('refused') }],
    ['an unknown content coding', { status: 501, error: 'unknown_transfer_coding' }],
    ['a client that left', { status: 0, upstream: upstream('aborted') }],
    ['a client that left before anything was sent upstream', { status: 0 }],
    ['a client that left in the middle of a response', { status: 0, upstream: upstream('answer', 200) }],
  ])('is not spent by %s', (_, trace) => expect(spendsErrorBudget(trace)).toBe(false));
});

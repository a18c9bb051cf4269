import { describe, expect, it } from 'vitest';
import type { TrafficCounts } from '../../../src/engine/telemetry/traffic-counts.ts';
import { createTrafficHistory } from '../../../src/features/console/traffic-history.ts';
import { createTestClock } from '../../builders/test-clock.ts';

function history() {
  const requests = new Float64Array(4);
  const failures = new Float64Array(1);
  const traffic: TrafficCounts = {
    operations: ['one', 'two'],
    cachedOperations: [],
    failureKinds: ['reset'],
    buckets: { duration: [1], exchange: [1] },
    counts: { requests, duration: [], cache: [], exchange: [], failures },
  };
  const clock = createTestClock(1_000_000_000_000);
  const made = createTrafficHistory(traffic, clock, { stepSeconds: 5, steps: 4 });
  return {
    clock,
    requests,
    failures,
    sample: made.sample,
    window: made.window,
    counted: (seconds: number) => made.window(seconds).steps.map(({ counts }) => counts.requests[0]),
  };
}

describe('the history of traffic', () => {
  it('returns the growth of counts step by step, the newest last', () => {
    const { clock, requests, sample, counted } = history();
    requests[0] = 3;
    sample();
    clock.advance(5);
    requests[0] = 10;
    sample();
    clock.advance(5);
    expect(counted(60)).toEqual([3, 7, 0]);
  });

  it('includes counts since the last sample', () => {
    const { requests, counted } = history();
    requests[0] = 2;
    expect(counted(5)).toEqual([2]);
    requests[0] = 3;
    expect(counted(5)).toEqual([3]);
  });

  it('stores every count in its own column', () => {
    const { requests, failures, window } = history();
    requests.set([1, 2, 3, 4]);
    failures[0] = 9;
    const [step] = window(5).steps;
    expect(Array.from(step?.counts.requests ?? [])).toEqual([1, 2, 3, 4]);
    expect(Array.from(step?.counts.failures ?? [])).toEqual([9]);
    expect(window(5)).toMatchObject({ operations: ['one', 'two'], failureKinds: ['reset'], stepSeconds: 5 });
  });

  it('drops steps beyond its length, even after a long pause', () => {
    const { clock, requests, sample, counted } = history();
    for (const total of [1, 2, 3, 4, 5, 6]) {
      requests[0] = total;
      sample();
      clock.advance(5);
    }
    requests[0] = 16;
    expect(counted(1000)).toEqual([1, 1, 1, 10]);
    clock.advance(86_400);
    expect(counted(1000)).toEqual([0, 0, 0, 0]);
  });

  it('covers no time before its start', () => {
    const { clock, window } = history();
    const began = clock();
    clock.advance(7);
    expect(window(60)).toMatchObject({ since: began, until: began + 7000 });
    clock.advance(60);
    expect(window(10).since).toBe(clock() - 2000 - 5000);
  });

  it('continues at the latest step after the clock is set back', () => {
    const { clock, requests, counted } = history();
    requests[0] = 1;
    expect(counted(5)).toEqual([1]);
    clock.advance(-3600);
    requests[0] = 4;
    expect(counted(5)).toEqual([4]);
  });
});

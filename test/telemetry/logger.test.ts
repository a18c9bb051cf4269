import { describe, expect, it } from 'vitest';
import { createLogTime } from '../../src/telemetry/logger.ts';

describe('the time of log lines', () => {
  it('follows the clock, forwards and backwards', () => {
    let now = 1_700_000_000_123;
    const time = createLogTime(() => now);
    expect([time(), time()]).toEqual(['2023-11-14T22:13:20.123Z', '2023-11-14T22:13:20.123Z']);
    now += 1;
    expect(time()).toBe('2023-11-14T22:13:20.124Z');
    now -= 2;
    expect(time()).toBe('2023-11-14T22:13:20.122Z');
  });
});

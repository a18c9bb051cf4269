import { describe, expect, it } from 'vitest';
import { endOfDay, isDay } from '../../src/lib/clock.ts';

describe('a calendar date', () => {
  it.each([
    ['2026-12-31', true],
    ['2024-02-29', true],
    ['2026-02-29', false],
    ['2026-13-01', false],
    ['2026-1-1', false],
    ['soon', false],
  ])('%s is valid: %s', (text, valid) => {
    expect(isDay(text)).toBe(valid);
  });

  it('ends when the next day begins', () => {
    expect(endOfDay('2026-12-31')).toBe(Date.UTC(2027, 0, 1));
  });
});

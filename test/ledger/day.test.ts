import { describe, expect, it } from 'vitest';
import { endOfDay, isDay } from '../../src/ledger/day.ts';

describe('a day', () => {
  it.each([
    ['2026-12-31', true],
    ['2024-02-29', true],
    ['2026-02-29', false],
    ['2026-13-01', false],
    ['2026-1-1', false],
    ['soon', false],
  ])('%s is one of the calendar: %s', (text, is) => {
    expect(isDay(text)).toBe(is);
  });

  it('ends when the next one begins', () => {
    expect(endOfDay('2026-12-31')).toBe(Date.UTC(2027, 0, 1));
  });
});

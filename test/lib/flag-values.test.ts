import { expect, it } from 'vitest';
import { parseSince } from '../../src/lib/flag-values.ts';

const NOW = Date.UTC(2026, 4, 4, 10);

it.each([
  ['24h', '2026-05-03T10:00:00Z'],
  ['7d', '2026-04-27T10:00:00Z'],
  ['30m', '2026-05-04T09:30:00Z'],
  ['999999w', '1970-01-01T00:00:00Z'],
  ['2024-02-29', '2024-02-29T00:00:00Z'],
  ['2026-05-01', '2026-05-01T00:00:00Z'],
  ['2026-05-01T08:00', '2026-05-01T08:00:00Z'],
  ['2026-05-01T08:00:00.5+02:00', '2026-05-01T06:00:00.500Z'],
])('reads %s', (text, instant) => {
  expect(parseSince(text, NOW)).toBe(Date.parse(instant));
});

it.each([
  '',
  '24',
  'h',
  '-1h',
  'yesterday',
  '2026-13-01',
  '2026-02-30',
  '2026-02-29T10:00Z',
  '2026-05-01T25:00Z',
  '1777777777777',
])('refuses %j', (text) => {
  expect(parseSince(text, NOW)).toBeUndefined();
});

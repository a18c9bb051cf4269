import type { Override } from '../../../../src/features/levels/overrides/override.ts';

/** The time shown by the tests' clocks. */
export const NOW = Date.UTC(2026, 4, 4, 10);

/**
 * Returns an override with default values for the members that are not given. By default, it disables `listIdeas` for
 * an hour.
 */
export function overrideWith(more: Partial<Override> & Record<string, unknown> = {}): Override {
  const common = { operation: 'listIdeas', reason: 'INC-17', by: 'alice', from: '127.0.0.1', setAt: NOW };
  return { kind: 'disable', ...common, until: NOW + 3_600_000, ...more } as Override;
}

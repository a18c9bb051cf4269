import type { Override } from '../../src/overrides/override.ts';

/** The time shown by the tests' clocks. */
export const NOW = Date.UTC(2026, 4, 4, 10);

/** Returns an override that disables `listIdeas` for an hour, with the given members in place of the defaults. */
export function overrideWith(more: Partial<Override> & Record<string, unknown> = {}): Override {
  const common = { operation: 'listIdeas', reason: 'INC-17', by: 'alice', from: '127.0.0.1', setAt: NOW };
  return { kind: 'disable', ...common, until: NOW + 3_600_000, ...more } as Override;
}

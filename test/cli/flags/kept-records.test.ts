import { expect, it } from 'vitest';
import { UsageError } from '../../../src/lib/command.ts';
import { acceptanceReader, keeperOf } from '../../../src/cli/flags/kept-records.ts';
import { FEATURES } from '../../../src/features.ts';

it('commands that need records or accepted violations say so if no feature keeps them', () => {
  expect(keeperOf(FEATURES).name).toBe('ledger');
  expect(() => keeperOf([])).toThrow(UsageError);
  expect(() => keeperOf([])).toThrow(/no feature that keeps records/);
  expect(() => acceptanceReader([])).toThrow(/no feature that accepts violations/);
});

import { describe, expect, it } from 'vitest';
import type { EntryFacts } from '../../../../src/features/ledger/ledger-batch.ts';
import { createPendingEntries } from '../../../../src/features/ledger/record/pending-counts.ts';
import { HOUR_MS } from '../../../../src/lib/clock.ts';
import { NOW } from '../../../builders/ledger.ts';

const factsOf = (fingerprint: string, keyword: string): EntryFacts => ({
  fingerprint,
  operation: 'listQuestions',
  status: undefined,
  check: 'requests',
  direction: 'request',
  category: 'undocumented',
  location: 'query',
  keyword,
  schemaPath: '',
  at: fingerprint,
  message: 'is not known for this operation',
  suggestion: undefined,
});

const seen = { sample: { requestId: 'r1', seenAt: NOW, found: undefined }, caller: 1 };

describe('pending violations', () => {
  it('leave room for other violations when a caller invents many names between two writes', () => {
    const pending = createPendingEntries(100);
    const add = (fingerprint: string, keyword: string) =>
      pending.add(fingerprint, () => factsOf(fingerprint, keyword), seen);
    const taken = Array.from({ length: 5_000 }, (_, index) => add(`name${index}`, 'unknown')).filter(Boolean);
    expect(taken).toHaveLength(50);
    expect(['type', 'format', 'missing'].map((keyword) => add(keyword, keyword))).toEqual([true, true, true]);
    expect(add('name1', 'unknown')).toBe(true);
    expect(pending.take()).toHaveLength(53);
    expect(add('name9000', 'unknown')).toBe(true);
  });

  it('never exceed the limit', () => {
    const pending = createPendingEntries(100);
    for (let index = 0; index < 500; index++)
      pending.add(`f${index}`, () => factsOf(`f${index}`, `rule ${index}`), seen);
    expect(pending.take()).toHaveLength(100);
  });

  it('have a bounded number of hours, callers and samples, and count every occurrence', () => {
    const pending = createPendingEntries();
    for (let index = 0; index < 3_000; index++) {
      const sample = { requestId: `r${index}`, seenAt: NOW + index * HOUR_MS, found: undefined };
      pending.add('f', () => factsOf('f', 'type'), { sample, caller: index });
    }
    const [entry] = pending.take();
    expect(entry?.hours).toHaveLength(48);
    expect(entry?.hours.reduce((sum, [, count]) => sum + count, 0)).toBe(3_000);
    expect(entry?.callers).toHaveLength(2_048);
    expect(entry?.samples.map(({ requestId }) => requestId)).toEqual(['r2995', 'r2996', 'r2997', 'r2998', 'r2999']);
  });
});

import { expect, it } from 'vitest';
import { createMemoryStore } from '../../../../src/features/ledger/store/memory-store.ts';
import { NOW } from '../../../builders/ledger.ts';
import { ledgerStoreContract } from '../../../interfaces/ledger-store.contract.ts';

ledgerStoreContract('memory', createMemoryStore);

// If hours were never merged, a long-running process would accumulate a count for every combination of hour, operation,
// check and release.
it('a store in memory counts the hours of two weeks separately and adds older hours to the oldest one', async () => {
  const HOUR = 3_600_000;
  const HOURS = 24 * 14;
  const store = createMemoryStore({ maxEntries: 10, retentionDays: 300 });
  const first = NOW / HOUR;
  for (let hour = first; hour <= first + HOURS; hour += 1) {
    const traffic = [{ operation: 'listIdeas', hour, requests: 1, checks: {} }];
    await store.write({
      number: 1,
      writtenAt: hour * HOUR,
      release: 'one',
      entries: [],
      traffic,
      statistics: [],
      dropped: 0,
    });
  }
  const requestsSince = async (hour: number) => (await store.read({ since: hour * HOUR }, NOW)).traffic[0]?.requests;
  expect(await requestsSince(first)).toBe(HOURS + 1);
  expect(await requestsSince(first + 1)).toBe(HOURS - 1);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { beginFile } from '../../../../../src/features/ledger/store/sqlite/ledger-file.ts';
import { openLedgerFile } from '../../../../../src/features/ledger/store/sqlite/open-ledger-file.ts';
import type { LedgerStore } from '../../../../../src/features/ledger/ledger-store.ts';
import { openSqliteStore } from '../../../../../src/features/ledger/store/sqlite/sqlite-store.ts';
import { StartFault } from '../../../../../src/engine/model/fault.ts';
import { NOW } from '../../../../builders/ledger.ts';
import { tempFolder } from '../../../../builders/temp-folder.ts';

const folder = tempFolder();

/** Opens a store and writes a batch that contains only the number of dropped entries. */
async function storeWith(path: string, dropped: number): Promise<LedgerStore> {
  const store = openSqliteStore(path, { maxEntries: 10, retentionDays: 1, maxBytes: 1024 * 1024 });
  const empty = { entries: [], traffic: [], statistics: [] };
  await store.write({ number: 1, writtenAt: NOW, release: 'one', ...empty, dropped });
  return store;
}

describe('a ledger file that is opened for reading', () => {
  it('returns what was written, with the time of the reader', async () => {
    const path = join(folder, 'ledger.db');
    const store = openSqliteStore(path, { maxEntries: 10, retentionDays: 1, maxBytes: 1024 * 1024 });
    const traffic = [{ operation: 'listIdeas', hour: Math.floor(NOW / 3_600_000), requests: 2, checks: {} }];
    await store.write({ number: 1, writtenAt: NOW, release: 'one', entries: [], traffic, statistics: [], dropped: 1 });
    const reader = openLedgerFile(path, () => NOW + 5);
    expect(await reader.snapshot()).toEqual({
      takenAt: NOW + 5,
      since: undefined,
      releases: ['one'],
      entries: [],
      traffic: [{ operation: 'listIdeas', release: 'one', requests: 2, checks: {} }],
      statistics: [],
      dropped: 1,
    });
    reader.close();
    await store.close();
  });

  it('is empty until the gateway has received a request, and shows later entries', async () => {
    const path = join(folder, 'begun.db');
    expect(beginFile(path)).toBe(true);
    const reader = openLedgerFile(path, () => NOW);
    expect(await reader.snapshot({ since: 1 })).toMatchObject({
      since: 1,
      entries: [],
      traffic: [],
      statistics: [],
      dropped: 0,
    });
    const store = await storeWith(path, 3);
    expect((await reader.snapshot()).dropped).toBe(3);
    expect(beginFile(path)).toBe(false);
    reader.close();
    await store.close();
  });

  it('causes a configuration error with its path when its damage shows only on reading', async () => {
    const path = join(folder, 'damaged.db');
    const store = await storeWith(path, 1);
    await store.close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xff, 4096));
    const reader = openLedgerFile(path);
    await expect(reader.snapshot()).rejects.toThrow(StartFault);
    await expect(reader.snapshot()).rejects.toThrow(/is damaged/);
    reader.close();
  });

  it.each([
    ['does not exist', undefined, /contains no ledger/],
    ['is not a ledger', 'a text of some length'.repeat(100), /is not an SQLite database/],
  ])('causes a configuration error with its path if it %s', (name, text, says) => {
    const path = join(folder, name);
    if (text !== undefined) writeFileSync(path, text);
    expect(() => openLedgerFile(path)).toThrow(StartFault);
    expect(() => openLedgerFile(path)).toThrow(says);
    expect(() => openLedgerFile(path)).toThrow(
      expect.objectContaining({ faults: [expect.objectContaining({ source: path })] }),
    );
  });
});

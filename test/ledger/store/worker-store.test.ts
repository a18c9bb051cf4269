import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkerStore } from '../../../src/ledger/store/worker-store.ts';
import { finished, ledgerWith, NOW } from '../../builders/ledger.ts';
import { responseViolation } from '../../builders/response-violation.ts';
import { openFileStore } from '../../../src/ledger/store/open-file-store.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { ledgerStoreContract } from '../../interfaces/ledger-store.contract.ts';

const folder = tempFolder();
const LIMITS = { maxEntries: 100, retentionDays: 30, maxBytes: 4 * 1024 * 1024 };
let files = 0;
const nextFile = () => join(folder, `${(files += 1)}.db`);

ledgerStoreContract('a thread with a file', (limits) =>
  createWorkerStore({ path: nextFile(), limits: { ...LIMITS, ...limits } }),
);

describe('the ledger thread', () => {
  it('continues the counts after a restart', async () => {
    const path = nextFile();
    for (let run = 1; run <= 2; run++) {
      const ledger = ledgerWith({ openStore: () => Promise.resolve(openFileStore(path, LIMITS)) });
      await ledger.open();
      expect(ledger.size()).toBe(run - 1);
      ledger.record(finished([responseViolation()], { caller: 'alice' }));
      expect(ledger.size()).toBe(1);
      await ledger.flush();
      const { entries } = await ledger.snapshot();
      // The store still recognizes the caller after the restart.
      expect(entries).toMatchObject([{ count: run, callers: 1, releases: { one: run } }]);
      await ledger.close();
    }
  });

  it('allows two gateways to write to the same file', async () => {
    const path = nextFile();
    const open = (release: string) =>
      ledgerWith({ release, openStore: () => Promise.resolve(openFileStore(path, LIMITS)) });
    const both = [open('one'), open('two')];
    await Promise.all(both.map((ledger) => ledger.open()));
    for (let round = 0; round < 20; round++) {
      for (const ledger of both) ledger.record(finished([responseViolation()]));
      await Promise.all(both.map((ledger) => ledger.flush()));
    }
    expect((await both[0]?.snapshot())?.entries).toMatchObject([{ count: 40, releases: { one: 20, two: 20 } }]);
    expect(both.map((ledger) => ledger.dropped())).toEqual([0, 0]);
    for (const ledger of both) await ledger.close();
  });

  it('rejects a task while the file is unusable, and works again afterwards', async () => {
    const { rmSync, writeFileSync } = await import('node:fs');
    const path = nextFile();
    writeFileSync(path, 'this is not a database, and it is longer than the header of a database'.repeat(10));
    const store = createWorkerStore({ path, limits: LIMITS });
    await expect(store.read({}, NOW)).rejects.toThrow(/is not an SQLite database/);
    rmSync(path);
    expect((await store.read({}, NOW)).entries).toEqual([]);
    await store.close();
    await store.close();
  });
});

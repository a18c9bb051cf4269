import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LedgerStoreError } from '../../../../src/features/ledger/ledger-store.ts';
import { ledgerAt, withLedgerFile } from '../../../../src/features/ledger/store/select-store.ts';
import { StartFault } from '../../../../src/engine/model/fault.ts';
import { REDIS_DEFAULTS } from '../../../../src/engine/sharing/redis/redis-options.ts';
import { LEDGER_DEFAULTS, NOW } from '../../../builders/ledger.ts';
import { tempFolder } from '../../../builders/temp-folder.ts';

const traffic = [{ operation: 'listIdeas', hour: Math.floor(NOW / 3_600_000), requests: 2, checks: {} }];
const WRITER = { replica: 'a', onDataLost: () => undefined, redis: undefined };
const BATCH = { number: 1, writtenAt: NOW, release: 'one', entries: [], traffic, statistics: [], dropped: 0 };

describe('the location of a ledger', () => {
  it('is a file that the gateway writes and other processes read', async () => {
    const file = join(tempFolder(), 'folder', 'ledger.db');
    const location = ledgerAt({ ...LEDGER_DEFAULTS, file });
    expect(location).toMatchObject({ name: file, isLasting: true });
    expect([await location.read({}), existsSync(file)]).toEqual([undefined, false]);
    const { store, fingerprints } = await location.open(WRITER);
    expect(fingerprints).toEqual([]);
    expect(await location.read({})).toMatchObject({ traffic: [] });
    await store.write(BATCH);
    expect(await location.read({ operation: 'listIdeas' })).toMatchObject({ traffic: [{ requests: 2 }] });
    expect(await location.read({ operation: 'listQuestions' })).toMatchObject({ traffic: [] });
    await store.close();
  });

  it('reports a file that cannot be used, to the writer and to readers', async () => {
    const location = ledgerAt({ ...LEDGER_DEFAULTS, file: tempFolder() });
    await expect(location.open(WRITER)).rejects.toThrow(LedgerStoreError);
    await expect(location.read({})).rejects.toThrow(StartFault);
  });

  it.each([
    { options: { store: 'redis' }, redis: true, name: 'Redis (prefix portico)' },
    { options: {}, redis: true, name: 'Redis (prefix portico)' },
    { options: { store: 'memory' }, redis: true, name: ':memory:' },
    { options: { file: ':memory:' }, redis: true, name: ':memory:' },
    { options: { store: 'file', file: ':memory:' }, redis: true, name: ':memory:' },
    { options: { store: 'file' }, redis: true, name: LEDGER_DEFAULTS.file },
    { options: {}, redis: false, name: LEDGER_DEFAULTS.file },
  ] as const)('follows the options: $options, Redis: $redis', ({ options, redis, name }) => {
    const server = redis ? { ...REDIS_DEFAULTS, url: 'redis://127.0.0.1' } : undefined;
    const location = ledgerAt({ ...LEDGER_DEFAULTS, ...options }, server);
    expect(location).toMatchObject({ name });
    // If an in-memory ledger could replace a shared one, its counts would be silently lost.
    if (name.startsWith('Redis')) expect(location.mayBeReplaced).toBe(false);
  });

  // With a file of its own, a gateway would silently stop using the ledger that it is supposed to share.
  it('is not a file if the ledger is supposed to be in Redis, but no server is configured', () => {
    expect(() => ledgerAt({ ...LEDGER_DEFAULTS, store: 'redis' })).toThrow(StartFault);
  });

  it('is the memory of the process, which no other process can read', async () => {
    const location = ledgerAt(withLedgerFile(LEDGER_DEFAULTS, ':memory:'));
    expect(location).toMatchObject({ name: ':memory:', isLasting: false });
    const { store } = await location.open(WRITER);
    await store.write(BATCH);
    expect(await store.read({}, NOW)).toMatchObject({ traffic: [{ requests: 2 }] });
    expect(await location.read({})).toBeUndefined();
    await store.close();
  });
});

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LedgerBatch } from '../../src/ledger/ledger-batch.ts';
import { openSqliteStore } from '../../src/ledger/sqlite-store.ts';
import { NOW } from '../builders/ledger.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { ledgerStoreContract } from '../contracts/ledger-store.contract.ts';

const MIB = 1024 * 1024;
const HOUR = 3_600_000;
const folder = tempFolder();
const LIMITS = { maxEntries: 100_000, retentionDays: 3_650, maxBytes: MIB };
let files = 0;
const nextFile = () => join(folder, `${(files += 1)}.db`);

ledgerStoreContract('SQLite', (limits) => openSqliteStore(nextFile(), { ...LIMITS, ...limits }));

const entryOf = (fingerprint: string, hour: number): LedgerBatch['entries'][number] => ({
  facts: {
    fingerprint,
    operation: 'listQuestions',
    status: 200,
    check: 'responses',
    direction: 'response',
    category: 'type',
    location: 'body',
    keyword: 'type',
    schemaPath: '#/type',
    at: '/list/*/id',
    message: 'm'.repeat(300),
    suggestion: undefined,
  },
  firstSeenAt: hour * HOUR,
  lastSeenAt: hour * HOUR,
  hours: [[hour, 1]],
  callers: [1],
  samples: [],
});

const FIRST_HOUR = NOW / HOUR;
const batchAt = (hour: number, entries: LedgerBatch['entries']): LedgerBatch => ({
  writtenAt: hour * HOUR,
  release: 'one',
  entries,
  traffic: [],
  dropped: 0,
});

/** Writes more than a MiB, each entry in an hour of its own or all in one. */
async function overfill(path: string, hourOf: (index: number) => number, maxBytes = MIB) {
  const store = openSqliteStore(path, { ...LIMITS, maxBytes });
  let dropped = 0;
  let last = 0;
  for (let index = 0; index < 3_000; index += 50) {
    const hour = hourOf(index);
    const entries = Array.from({ length: 50 }, (_, at) => entryOf(`f${index + at}`, hour));
    const state = await store.write(batchAt(hour, entries));
    dropped += state.dropped;
    last = state.entries;
  }
  return { store, dropped, last };
}

describe('a file that is full', () => {
  it.each([
    ['of one hour', () => FIRST_HOUR],
    ['of many hours', (index: number) => FIRST_HOUR + index],
  ])('%s stays within its size, keeps the latest and says what it dropped', async (_name, hourOf) => {
    const path = nextFile();
    const { store, dropped } = await overfill(path, hourOf);
    const { entries, dropped: told } = await store.read({}, NOW);
    expect(entries.some(({ fingerprint }) => fingerprint === 'f2999')).toBe(true);
    expect(entries.length).toBeGreaterThan(100);
    expect(dropped).toBeGreaterThan(100);
    expect(told).toBe(dropped);
    await store.close();
    expect(statSync(path).size).toBeLessThanOrEqual(MIB);
  });

  it('is made smaller when it was allowed to be larger before', async () => {
    const path = nextFile();
    const { store, last } = await overfill(path, (index) => FIRST_HOUR + index, 64 * MIB);
    expect(last).toBe(3_000);
    await store.close();
    expect(statSync(path).size).toBeGreaterThan(MIB);
    const again = openSqliteStore(path, LIMITS);
    const { entries, dropped } = await again.read({}, NOW);
    expect(dropped).toBeGreaterThan(0);
    expect(entries[0]?.fingerprint).toBe('f2999');
    await again.close();
    expect(statSync(path).size).toBeLessThanOrEqual(MIB);
  });
});

describe('the file of a ledger', () => {
  it('can be read by nobody else', async () => {
    const path = join(folder, 'deep', 'folder', 'ledger.db');
    const store = openSqliteStore(path, LIMITS);
    await store.write(batchAt(FIRST_HOUR, [entryOf('f1', FIRST_HOUR)]));
    expect(statSync(join(folder, 'deep')).mode & 0o777).toBe(0o700);
    for (const ending of ['', '-wal', '-shm']) expect(statSync(path + ending).mode & 0o777).toBe(0o600);
    await store.close();
  });
});

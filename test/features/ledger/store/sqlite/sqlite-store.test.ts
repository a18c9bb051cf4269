import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LedgerStore } from '../../../../../src/features/ledger/ledger-store.ts';
import type { LedgerBatch } from '../../../../../src/features/ledger/ledger-batch.ts';
import { openSqliteStore } from '../../../../../src/features/ledger/store/sqlite/sqlite-store.ts';
import { IN_MEMORY } from '../../../../../src/lib/replace-file.ts';
import { NOW } from '../../../../builders/ledger.ts';
import { tempFolder } from '../../../../builders/temp-folder.ts';
import { ledgerStoreContract } from '../../../../interfaces/ledger-store.contract.ts';

const MIB = 1024 * 1024;
const HOUR = 3_600_000;
const folder = tempFolder();
const LIMITS = { maxEntries: 100_000, retentionDays: 3_650, maxBytes: MIB };
let files = 0;
const nextFile = () => join(folder, `${(files += 1)}.db`);

ledgerStoreContract('SQLite', (limits) => openSqliteStore(nextFile(), { ...LIMITS, ...limits }));

ledgerStoreContract('SQLite in memory', (limits) => openSqliteStore(IN_MEMORY, { ...LIMITS, ...limits }));

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
  number: 1,
  writtenAt: hour * HOUR,
  release: 'one',
  entries,
  traffic: [],
  statistics: [],
  dropped: 0,
});

/** Writes more than one MiB of entries in batches of 50. `hourOf` returns the hour in which a batch is written. */
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

describe('a full ledger file', () => {
  it.each([
    ['of one hour', () => FIRST_HOUR],
    ['of many hours', (index: number) => FIRST_HOUR + index],
  ])('%s stays within its size limit, keeps the latest entries and counts the dropped ones', async (_name, hourOf) => {
    const path = nextFile();
    const { store, dropped } = await overfill(path, hourOf);
    const { entries, dropped: stored } = await store.read({}, NOW);
    expect(entries.some(({ fingerprint }) => fingerprint === 'f2999')).toBe(true);
    expect(entries.length).toBeGreaterThan(100);
    expect(dropped).toBeGreaterThan(100);
    expect(stored).toBe(dropped);
    await store.close();
    expect(statSync(path).size).toBeLessThanOrEqual(MIB);
  });

  it('shrinks if it was allowed to be larger before', async () => {
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

const TEN = Array.from({ length: 10 }, (_, index) => FIRST_HOUR + index);

describe('a full disk', () => {
  afterEach(() => vi.restoreAllMocks());

  it('loses only the batch that could not be written', async () => {
    const store = openSqliteStore(nextFile(), LIMITS);
    for (const hour of TEN) await store.write(batchAt(hour, [entryOf(`f${hour}`, hour)]));
    // The file is far below its own size limit, and the disk still has room for small changes, so only one COMMIT
    // fails.
    const { exec } = DatabaseSync.prototype;
    let full = true;
    vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
      if (sql === 'COMMIT' && full) {
        full = false;
        throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
      }
      exec.call(this, sql);
    });
    const late = batchAt(FIRST_HOUR + 20, [entryOf('late', FIRST_HOUR + 20)]);
    await expect(store.write(late)).rejects.toThrow('full');
    expect(await store.read({}, NOW)).toMatchObject({ dropped: 0, entries: { length: TEN.length } });
    // The next batch is written normally.
    expect(await store.write(late)).toEqual({ entries: TEN.length + 1, dropped: 0 });
    await store.close();
  });
});

describe('data older than the retention period', () => {
  it('is removed from the file and its write-ahead log, which shrink', async () => {
    const path = nextFile();
    const store = openSqliteStore(path, { ...LIMITS, retentionDays: 1, maxBytes: 64 * MIB });
    const old = Array.from({ length: 2_000 }, (_, index) => entryOf(`old${index}`, FIRST_HOUR));
    await store.write(batchAt(FIRST_HOUR, old));
    await store.write(batchAt(FIRST_HOUR, [entryOf('again', FIRST_HOUR)]));
    const sizes = () => [path, `${path}-wal`].map((file) => statSync(file).size);
    expect(Math.max(...sizes())).toBeGreaterThan(MIB);
    const later = FIRST_HOUR + 48;
    await store.write(batchAt(later, [entryOf('new', later)]));
    expect(Math.max(...sizes())).toBeLessThan(100_000);
    for (const file of [path, `${path}-wal`]) expect(readFileSync(file, 'latin1')).not.toContain('old1999');
    await store.close();
  });

  // Every deployment adds a release name, so the file would grow without limit if all names were stored.
  it('is removed together with its release names', async () => {
    const path = nextFile();
    const store = openSqliteStore(path, { ...LIMITS, retentionDays: 1 });
    await store.write(batchAt(FIRST_HOUR, [entryOf('old', FIRST_HOUR)]));
    await store.write({ ...batchAt(FIRST_HOUR + 48, []), release: 'two' });
    await store.close();
    const file = new DatabaseSync(path, { readOnly: true });
    expect(file.prepare('SELECT label FROM releases').all()).toEqual([{ label: 'two' }]);
    file.close();
  });

  it('is removed while another process reads the file, and the disk space is released later', async () => {
    const path = nextFile();
    const store = openSqliteStore(path, { ...LIMITS, retentionDays: 1 });
    await store.write(batchAt(FIRST_HOUR, [entryOf('old', FIRST_HOUR)]));
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('BEGIN');
    const seen = () => reader.prepare('SELECT fingerprint FROM entries').all();
    expect(seen()).toEqual([{ fingerprint: 'old' }]);
    const later = FIRST_HOUR + 48;
    expect(await store.write(batchAt(later, [entryOf('new', later)]))).toEqual({ entries: 1, dropped: 0 });
    expect(seen()).toEqual([{ fingerprint: 'old' }]);
    reader.close();
    await store.close();
    expect(readFileSync(path, 'latin1')).not.toContain('"old"');
  });
});

describe('a file that is removed while the store is open', () => {
  it.each([
    ['with its companions', ['', '-wal', '-shm']],
    ['alone', ['']],
  ])('%s is created again, and the next batch is not lost', async (_name, endings) => {
    const path = nextFile();
    const store = openSqliteStore(path, LIMITS, 'key');
    await store.write(batchAt(FIRST_HOUR, [entryOf('before', FIRST_HOUR)]));
    for (const ending of endings) rmSync(path + ending);
    expect(await store.write(batchAt(FIRST_HOUR, [entryOf('after', FIRST_HOUR)]))).toEqual({ entries: 1, dropped: 0 });
    const beside = openSqliteStore(path, LIMITS);
    expect((await beside.read({}, NOW)).entries.map(({ fingerprint }) => fingerprint)).toEqual(['after']);
    await beside.close();
    await store.close();
    const kept = new DatabaseSync(path, { readOnly: true });
    expect(kept.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    // The new file has the same caller key, so it recognizes the same callers.
    expect(kept.prepare(`SELECT value FROM meta WHERE name = 'callerKey'`).get()).toEqual({ value: 'key' });
    kept.close();
  });

  it('and replaced by another file leaves that file alone and rejects batches until it is gone', async () => {
    const path = nextFile();
    const store = openSqliteStore(path, LIMITS);
    await store.write(batchAt(FIRST_HOUR, [entryOf('before', FIRST_HOUR)]));
    for (const ending of ['', '-wal', '-shm']) rmSync(path + ending);
    writeFileSync(path, 'personal notes, not a database');
    const after = batchAt(FIRST_HOUR, [entryOf('after', FIRST_HOUR)]);
    for (let tries = 0; tries < 2; tries++) await expect(store.write(after)).rejects.toThrow('not an SQLite database');
    expect(readFileSync(path, 'utf8')).toContain('personal notes');
    rmSync(path);
    expect(await store.write(after)).toEqual({ entries: 1, dropped: 0 });
    await store.close();
  });

  it('and replaced by another ledger is not restored: the store continues in the other ledger', async () => {
    const [path, other] = [nextFile(), nextFile()];
    const saved = openSqliteStore(other, LIMITS);
    await saved.write(batchAt(FIRST_HOUR, [entryOf('saved', FIRST_HOUR)]));
    await saved.close();
    const store = openSqliteStore(path, LIMITS);
    await store.write(batchAt(FIRST_HOUR, [entryOf('before', FIRST_HOUR)]));
    for (const ending of ['', '-wal', '-shm']) rmSync(path + ending);
    renameSync(other, path);
    expect(await store.write(batchAt(FIRST_HOUR, [entryOf('after', FIRST_HOUR)]))).toEqual({ entries: 2, dropped: 0 });
    await store.close();
    expect(existsSync(path)).toBe(true);
  });
});

/** Moves a file that a store has written. As with `mv`, the companion files stay in place. */
const moved = async (after: (store: LedgerStore) => Promise<unknown>) => {
  const [path, archive] = [nextFile(), nextFile()];
  const store = openSqliteStore(path, LIMITS);
  await store.write(batchAt(FIRST_HOUR, [entryOf('before', FIRST_HOUR)]));
  renameSync(path, archive);
  await after(store);
  return { path, archive, store };
};

const namesIn = async (path: string) => {
  const store = openSqliteStore(path, LIMITS);
  const { entries } = await store.read({}, NOW);
  await store.close();
  return entries.map(({ fingerprint }) => fingerprint).toSorted();
};

describe('a file that is moved while the store is open', () => {
  it('contains everything that was written before', async () => {
    const { path, archive, store } = await moved((one) =>
      one.write(batchAt(FIRST_HOUR, [entryOf('after', FIRST_HOUR)])),
    );
    expect(await namesIn(archive)).toEqual(['before']);
    await store.close();
    expect(await namesIn(path)).toEqual(['after']);
  });

  it('contains everything even if nothing is written afterwards', async () => {
    const { path, archive } = await moved((one) => one.close());
    expect(await namesIn(archive)).toEqual(['before']);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it('leaves nothing in the ledger that took its place', async () => {
    const saved = nextFile();
    const other = openSqliteStore(saved, LIMITS);
    await other.write(batchAt(FIRST_HOUR, [entryOf('saved', FIRST_HOUR)]));
    await other.close();
    const path = nextFile();
    // Two gateways have the file open, and each detects on its own that another file has replaced it.
    const stores = [openSqliteStore(path, LIMITS), openSqliteStore(path, LIMITS)];
    for (const store of stores) await store.write(batchAt(FIRST_HOUR, [entryOf('before', FIRST_HOUR)]));
    renameSync(saved, path);
    for (const [at, store] of stores.entries())
      await store.write(batchAt(FIRST_HOUR, [entryOf(`after ${at}`, FIRST_HOUR)]));
    for (const store of stores) await store.close();
    expect(await namesIn(path)).toEqual(['after 0', 'after 1', 'saved']);
  });
});

describe('the ledger file', () => {
  it('is readable only by its owner', async () => {
    const path = join(folder, 'deep', 'folder', 'ledger.db');
    const store = openSqliteStore(path, LIMITS);
    await store.write(batchAt(FIRST_HOUR, [entryOf('f1', FIRST_HOUR)]));
    expect(statSync(join(folder, 'deep')).mode & 0o777).toBe(0o700);
    for (const ending of ['', '-wal', '-shm']) expect(statSync(path + ending).mode & 0o777).toBe(0o600);
    await store.close();
  });
});

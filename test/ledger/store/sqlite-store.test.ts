import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LedgerBatch } from '../../../src/ledger/ledger-batch.ts';
import type { LedgerStore } from '../../../src/ledger/ledger-store.ts';
import { openSqliteStore } from '../../../src/ledger/store/sqlite-store.ts';
import { NOW } from '../../builders/ledger.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { ledgerStoreContract } from '../../contracts/ledger-store.contract.ts';

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

const TEN = Array.from({ length: 10 }, (_, index) => FIRST_HOUR + index);

describe('a disk that is full', () => {
  afterEach(() => vi.restoreAllMocks());

  it('costs the batch that it does not take, and nothing of what is kept', async () => {
    const store = openSqliteStore(nextFile(), LIMITS);
    for (const hour of TEN) await store.write(batchAt(hour, [entryOf(`f${hour}`, hour)]));
    // So it is where the file is far from its own bound, and a small change would still find room.
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
    // The next one is written as if nothing had been.
    expect(await store.write(late)).toEqual({ entries: TEN.length + 1, dropped: 0 });
    await store.close();
  });
});

describe('what is older than the retention', () => {
  it('leaves the file and its log, which become smaller', async () => {
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

  // Each deployment has a new name; a file that keeps them all grows for ever.
  it('takes the names of its releases with it', async () => {
    const path = nextFile();
    const store = openSqliteStore(path, { ...LIMITS, retentionDays: 1 });
    await store.write(batchAt(FIRST_HOUR, [entryOf('old', FIRST_HOUR)]));
    await store.write({ ...batchAt(FIRST_HOUR + 48, []), release: 'two' });
    await store.close();
    const file = new DatabaseSync(path, { readOnly: true });
    expect(file.prepare('SELECT label FROM releases').all()).toEqual([{ label: 'two' }]);
    file.close();
  });

  it('goes while somebody reads, and the disk is given back later', async () => {
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

describe('a file that was taken away while it is written', () => {
  it.each([
    ['with its companions', ['', '-wal', '-shm']],
    ['alone', ['']],
  ])('%s is begun anew, and what was not in it is not lost', async (_name, endings) => {
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
    // Whoever counted callers before goes on counting them under the same key.
    expect(kept.prepare(`SELECT value FROM meta WHERE name = 'callerKey'`).get()).toEqual({ value: 'key' });
    kept.close();
  });

  it('and replaced by something else costs what comes until that is gone, and is left alone', async () => {
    const path = nextFile();
    const store = openSqliteStore(path, LIMITS);
    await store.write(batchAt(FIRST_HOUR, [entryOf('before', FIRST_HOUR)]));
    for (const ending of ['', '-wal', '-shm']) rmSync(path + ending);
    writeFileSync(path, 'notes of somebody, and no database at all');
    const after = batchAt(FIRST_HOUR, [entryOf('after', FIRST_HOUR)]);
    for (let tries = 0; tries < 2; tries++) await expect(store.write(after)).rejects.toThrow('no SQLite database');
    expect(readFileSync(path, 'utf8')).toContain('notes of somebody');
    rmSync(path);
    expect(await store.write(after)).toEqual({ entries: 1, dropped: 0 });
    await store.close();
  });

  it('and replaced by another ledger is left alone: that one is gone on with', async () => {
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

/** Moves the file of a store that holds something; its companions stay where they were, as with `mv`. */
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

describe('a file that was moved while it is written', () => {
  it('holds all that was written before', async () => {
    const { path, archive, store } = await moved((one) =>
      one.write(batchAt(FIRST_HOUR, [entryOf('after', FIRST_HOUR)])),
    );
    expect(await namesIn(archive)).toEqual(['before']);
    await store.close();
    expect(await namesIn(path)).toEqual(['after']);
  });

  it('holds it too when nothing comes after', async () => {
    const { path, archive } = await moved((one) => one.close());
    expect(await namesIn(archive)).toEqual(['before']);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it('leaves nothing of its own in the ledger that took its place', async () => {
    const saved = nextFile();
    const other = openSqliteStore(saved, LIMITS);
    await other.write(batchAt(FIRST_HOUR, [entryOf('saved', FIRST_HOUR)]));
    await other.close();
    const path = nextFile();
    // Two gateways: each notices by itself.
    const stores = [openSqliteStore(path, LIMITS), openSqliteStore(path, LIMITS)];
    for (const store of stores) await store.write(batchAt(FIRST_HOUR, [entryOf('before', FIRST_HOUR)]));
    renameSync(saved, path);
    for (const [at, store] of stores.entries())
      await store.write(batchAt(FIRST_HOUR, [entryOf(`after ${at}`, FIRST_HOUR)]));
    for (const store of stores) await store.close();
    expect(await namesIn(path)).toEqual(['after 0', 'after 1', 'saved']);
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

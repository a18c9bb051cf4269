import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { openLedgerFile } from '../../../../../src/features/ledger/store/sqlite/open-ledger-file.ts';
import { createWorkerStore, openFileStore } from '../../../../../src/features/ledger/store/sqlite/file-store.ts';
import { IN_MEMORY } from '../../../../../src/lib/replace-file.ts';
import { finished, ledgerWith, NOW } from '../../../../builders/ledger.ts';
import type { RecordingLine } from '../../../../builders/recording-process.ts';
import { responseViolation } from '../../../../builders/response-violation.ts';
import { tempFolder } from '../../../../builders/temp-folder.ts';
import { ledgerStoreContract } from '../../../../interfaces/ledger-store.contract.ts';

const folder = tempFolder();
const LIMITS = { maxEntries: 100, retentionDays: 30, maxBytes: 4 * 1024 * 1024 };
let files = 0;
const nextFile = () => join(folder, `${(files += 1)}.db`);

ledgerStoreContract('a thread with a file', (limits) =>
  createWorkerStore({ path: nextFile(), limits: { ...LIMITS, ...limits } }),
);

ledgerStoreContract('a thread with a database in memory', (limits) =>
  createWorkerStore({ path: IN_MEMORY, limits: { ...LIMITS, ...limits } }),
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

  it('is one for all ledgers of a process', async () => {
    let started = 0;
    const count = () => (started += 1);
    process.on('worker', count);
    const stores = [nextFile(), nextFile(), IN_MEMORY, IN_MEMORY].map((path) =>
      createWorkerStore({ path, limits: LIMITS }),
    );
    for (const store of stores) expect((await store.read({}, NOW)).entries).toEqual([]);
    await stores.pop()?.close();
    for (const store of stores) expect((await store.read({}, NOW)).entries).toEqual([]);
    process.off('worker', count);
    // It may have been started by an earlier test.
    expect(started).toBeLessThanOrEqual(1);
    for (const store of stores) await store.close();
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

const script = join(import.meta.dirname, '..', '..', '..', '..', 'builders', 'recording-process.ts');
const startRecording = (...args: string[]) =>
  spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });

/** The maximum number of violations that the process records per second. */
const PER_SECOND = 200;

// The processes run at the same time, because the tests mostly wait for the ledgers to be written.
describe.concurrent('a process that is killed', () => {
  it('loses only what it has recorded within the last second and what is being written', async () => {
    const path = nextFile();
    const recording = startRecording(path);
    const last = { recorded: 0, passed: 0, written: 0 };
    let batches = 0;
    let writtenAt = 0;
    for await (const line of createInterface({ input: recording.stdout })) {
      const { event, count } = JSON.parse(line) as RecordingLine;
      last[event] = count;
      if (event === 'written') batches += 1;
      // Elapsed time is measured by the number of recorded violations, because a busy machine delays the recording as
      // much as it delays the timer.
      if (event === 'recorded' && last.passed === last.written)
        expect(count - writtenAt).toBeLessThanOrEqual(PER_SECOND);
      if (event === 'written') writtenAt = last.recorded;
      // A slow machine may record fewer violations between two batches, so from the third batch on, one is enough.
      if (batches >= 2 && count - writtenAt > (batches === 2 ? 20 : 0)) recording.kill('SIGKILL');
    }
    if (recording.exitCode === null && recording.signalCode === null) await once(recording, 'exit');
    expect(recording.signalCode).toBe('SIGKILL');
    const reader = openLedgerFile(path);
    const { entries, traffic } = await reader.snapshot();
    reader.close();
    expect(entries).toHaveLength(1);
    expect(entries[0]?.count).toBeGreaterThanOrEqual(last.written);
    expect(entries[0]?.count).toBeLessThanOrEqual(last.recorded);
    expect(traffic[0]?.requests).toBe(entries[0]?.count);
  });

  it('has a ledger that another process can read while it runs', async () => {
    const path = nextFile();
    const recording = startRecording(path);
    const lines = createInterface({ input: recording.stdout });
    const ended = once(recording, 'exit');
    await once(lines, 'line');
    const reader = openLedgerFile(path);
    let before = 0;
    for (let grown = 0; grown < 2;) {
      await once(lines, 'line');
      const count = (await reader.snapshot()).entries[0]?.count ?? 0;
      if (count > before) grown += 1;
      before = count;
    }
    reader.close();
    recording.kill('SIGKILL');
    await ended;
    expect(before).toBeGreaterThan(0);
  });
});

describe.concurrent('an idle process', () => {
  it('ends without having started a thread if nothing was recorded', async () => {
    const path = join(folder, 'idle.db');
    const recording = startRecording(path, '0');
    recording.stdout.resume();
    expect(await once(recording, 'exit')).toEqual([0, null]);
    expect(existsSync(path)).toBe(true);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });
});

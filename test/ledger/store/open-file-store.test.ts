import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { openLedgerFile } from '../../../src/ledger/store/open-ledger-file.ts';
import { tempFolder } from '../../builders/temp-folder.ts';

const folder = tempFolder();
const script = join(import.meta.dirname, '..', '..', 'builders', 'recording-process.ts');
const startRecording = (...args: string[]) =>
  spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });

interface Progress {
  readonly count: number;
  /** Milliseconds since the process started. */
  readonly at: number;
}

describe('a process that is killed', () => {
  it('has written everything except the last second to the file', async () => {
    const path = join(folder, 'killed.db');
    const recording = startRecording(path);
    const progress: Progress[] = [];
    for await (const line of createInterface({ input: recording.stdout })) {
      progress.push(JSON.parse(line) as Progress);
      if ((progress.at(-1)?.at ?? 0) - (progress[0]?.at ?? 0) > 2_500) recording.kill('SIGKILL');
    }
    if (recording.exitCode === null && recording.signalCode === null) await once(recording, 'exit');
    expect(recording.signalCode).toBe('SIGKILL');
    const end = progress.at(-1)?.at ?? 0;
    const settled = progress.filter(({ at }) => at <= end - 1_000);
    expect(settled.length).toBeGreaterThan(20);
    const reader = openLedgerFile(path);
    const { entries, traffic } = await reader.snapshot();
    reader.close();
    expect(entries).toHaveLength(1);
    expect(entries[0]?.count).toBeGreaterThanOrEqual(settled.length);
    expect(entries[0]?.count).toBeLessThanOrEqual(progress.length);
    expect(traffic[0]?.requests).toBe(entries[0]?.count);
  });

  it('has a ledger that another process can read while it runs', async () => {
    const path = join(folder, 'running.db');
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

describe('an idle process', () => {
  it('ends without having started a thread if nothing was recorded', async () => {
    const path = join(folder, 'idle.db');
    const recording = startRecording(path, '0');
    recording.stdout.resume();
    expect(await once(recording, 'exit')).toEqual([0, null]);
    expect(existsSync(path)).toBe(true);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });
});

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import { readMirrorFile } from '../../../src/features/mirror/mirror-file.ts';
import { createMirrorStore } from '../../../src/features/mirror/mirror-store.ts';
import { settingsOf } from '../../builders/settings-of.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { until } from '../../builders/until.ts';

const clock = createTestClock();
const CELL = { operation: 'listIdeas', status: 200, role: 'standard', parameters: [] };
const KEY = 'cell\nlistIdeas\n200\nstandard\n\nnotMade';

function create(file = join(tempFolder(), 'state', 'mirror.json'), subject = 's') {
  const log: string[] = [];
  const store = createMirrorStore({
    subject,
    stored: readMirrorFile(settingsOf(), file),
    file,
    settings: settingsOf(),
    sharing: openAlone(clock),
    clock,
    logger: pino({ level: 'warn' }, { write: (line: string) => void log.push(line) }),
  });
  return { store, file, log };
}

afterEach(() => void vi.useRealTimers());

describe('the store of the mirror', () => {
  it('writes nothing before it is opened', async () => {
    const { store, file } = create();
    store.countsFor('s').notMade(CELL, 'credential');
    await store.close();
    expect(existsSync(file)).toBe(false);
  });

  it('writes every 30 seconds, so that a crash loses no more', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { store, file } = create();
    await store.open();
    store.countsFor('s').notMade(CELL, 'credential');
    vi.advanceTimersByTime(29_999);
    expect(existsSync(file)).toBe(false);
    vi.advanceTimersByTime(1);
    await until(() => existsSync(file));
    store.countsFor('s').notMade(CELL, 'credential');
    // The process crashes now.
    expect(create(file).store.totals().sums.get(KEY)).toBe(1);
    await store.close();
    expect(create(file).store.totals().sums.get(KEY)).toBe(2);
  });

  it('begins again for another second server, in a running gateway and after a restart', async () => {
    const { store, file } = create();
    await store.open();
    store.countsFor('s').notMade(CELL, 'credential');
    expect(store.totals().sums.get(KEY)).toBe(1);
    expect(store.countsFor('other').own().sums.size).toBe(0);
    expect(store.totals().sums.size).toBe(0);
    store.countsFor('other').notMade(CELL, 'credential');
    await store.close();
    expect(create(file, 's').store.totals().sums.size).toBe(0);
    expect(create(file, 'other').store.totals().sums.get(KEY)).toBe(1);
  });

  it('gives a caller the same number after a restart, and another one with another file', async () => {
    const { store, file } = create();
    await store.open();
    store.countsFor('s').notMade(CELL, 'credential');
    await store.close();
    expect(create(file).store.numberOf('ada')).toBe(store.numberOf('ada'));
    expect(store.numberOf('ada')).not.toBe(store.numberOf('bob'));
    expect(create().store.numberOf('ada')).not.toBe(store.numberOf('ada'));
  });

  it('goes on counting if the file cannot be written, and says so once', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { store, file, log } = create();
    await store.open();
    mkdirSync(dirname(dirname(file)), { recursive: true });
    rmSync(dirname(file), { recursive: true, force: true });
    // A file is where the folder should be.
    writeFileSync(dirname(file), '');
    const counts = store.countsFor('s');
    counts.notMade(CELL, 'credential');
    vi.advanceTimersByTime(30_000);
    await until(() => log.length === 1);
    counts.notMade(CELL, 'credential');
    await store.close();
    expect(store.totals().sums.get(KEY)).toBe(2);
    expect(log).toHaveLength(1);
  });
});

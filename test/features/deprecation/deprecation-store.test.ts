import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { openAlone } from '../../../src/engine/sharing/alone/open-alone.ts';
import { readDeprecationFile } from '../../../src/features/deprecation/deprecation-file.ts';
import { createDeprecationStore, type DeprecationStore } from '../../../src/features/deprecation/deprecation-store.ts';
import type { BrownoutDecision } from '../../../src/features/deprecation/revocations.ts';
import { settingsOf } from '../../builders/settings-of.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { createTestClock } from '../../builders/test-clock.ts';

const clock = createTestClock();
const DAY_SECONDS = 86_400;
const limits = { maxRows: 100, retentionDays: 90, isDeprecated: () => false };

function create(file = join(tempFolder(), 'state', 'deprecation.json')) {
  const log: string[] = [];
  const store = createDeprecationStore({
    stored: readDeprecationFile(file),
    file,
    limits,
    settings: settingsOf(),
    sharing: openAlone(clock),
    clock,
    logger: pino({ level: 'warn' }, { write: (line: string) => void log.push(line) }),
  });
  return { store, file, log };
}

const count = (store: DeprecationStore, caller: string) =>
  store.count({ operation: 'listIdeas', part: 'operation', name: '', caller }, clock());
const decision = (brownout: string, isRevoked: boolean): BrownoutDecision => ({
  brownout,
  isRevoked,
  reason: 'INC-17',
  by: undefined,
  from: undefined,
  at: clock(),
  until: clock() + 1000,
});

describe('the store of deprecations', () => {
  it('writes nothing if it is only created, as commands do', async () => {
    const { store, file } = create();
    count(store, 'a');
    await store.close();
    expect(existsSync(file)).toBe(false);
  });

  it('writes what it has counted when it is closed, and adds to it later', async () => {
    const { store, file } = create();
    await store.open();
    for (const caller of ['a', 'b', 'a']) count(store, caller);
    await store.close();
    const { store: next } = create(file);
    count(next, 'a');
    expect([...next.usage().rows.values()].map((row) => [row.caller, row.count])).toEqual([
      ['a', 3],
      ['b', 1],
    ]);
    expect(next.tags.tagOf('Alice')).toBe(store.tags.tagOf('alice'));
    expect(create().store.tags.tagOf('alice')).not.toBe(store.tags.tagOf('alice'));
  });

  it('never has more rows than the limit, also before they are written', () => {
    const { store } = create();
    for (let caller = 0; caller < 1000; caller += 1) count(store, String(caller));
    const { rows, removed } = store.usage();
    expect([rows.size, removed]).toEqual([100, 900]);
  });

  it('keeps no count in memory beyond the limit, so a caller that was removed starts again', () => {
    const { store } = create();
    count(store, '~claimed');
    for (let caller = 0; caller < 1000; caller += 1) {
      clock.advance(0.001);
      count(store, String(caller));
    }
    count(store, '999');
    clock.advance(0.001);
    count(store, '0');
    const counts = new Map([...store.usage().rows.values()].map((row) => [row.caller, row.count]));
    expect([counts.get('999'), counts.get('0')]).toEqual([2, 1]);
  });

  it('makes the later decision count, even if the clock has not moved or has gone back', async () => {
    const { store } = create();
    for (const isRevoked of [true, false, true, false]) {
      await store.decide(decision('b1', isRevoked));
      expect(store.isRevoked('b1')).toBe(isRevoked);
    }
    clock.advance(-60);
    await store.decide(decision('b1', true));
    expect(store.isRevoked('b1')).toBe(true);
  });

  it('forgets a decision 30 days after the brown-out', async () => {
    const { store } = create();
    await store.decide(decision('b1', true));
    clock.advance(30 * DAY_SECONDS);
    await store.decide(decision('b2', true));
    expect(store.decisionOn('b1')).toBeDefined();
    clock.advance(2);
    await store.decide(decision('b3', true));
    expect([store.decisionOn('b1'), store.isRevoked('b2')]).toEqual([undefined, true]);
  });

  it('says that a decision is in memory only if the file cannot be written, and logs that once', async () => {
    const { store, file, log } = create();
    // A file is where the folder should be.
    mkdirSync(dirname(dirname(file)), { recursive: true });
    writeFileSync(dirname(file), '');
    expect(await store.decide(decision('b1', true))).toBe(false);
    expect(await store.decide(decision('b2', true))).toBe(false);
    expect([store.isRevoked('b1'), log.length]).toEqual([true, 1]);
    rmSync(dirname(file));
    expect(await store.decide(decision('b3', true))).toBe(true);
    expect(readDeprecationFile(file).decisions.size).toBe(3);
  });
});

import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createStateWriter } from '../../../src/engine/config/state-writer.ts';
import { settingsOf } from '../../builders/settings-of.ts';

/** Creates a writer whose writes fail while `broken` is true. */
function create() {
  const log: string[] = [];
  const disk = { broken: false, writes: 0 };
  const writer = createStateWriter({
    settings: settingsOf(),
    file: ':memory:',
    pointer: '/mirror/file',
    logger: pino({ level: 'warn' }, { write: (line: string) => void log.push(line) }),
    name: 'mirror',
    what: 'the counts',
    async save() {
      await Promise.resolve();
      disk.writes += 1;
      if (disk.broken) throw new Error('no space left');
    },
  });
  return { writer, disk, log };
}

describe('the writer of a state file', () => {
  it('says whether the state is stored, and logs a failure once until a write succeeds again', async () => {
    const { writer, disk, log } = create();
    expect(await writer.write()).toBe(true);
    disk.broken = true;
    expect(await writer.write()).toBe(false);
    expect(await writer.write()).toBe(false);
    expect(log).toHaveLength(1);
    expect(log[0]).toContain('the counts cannot be stored');
    disk.broken = false;
    expect(await writer.write()).toBe(true);
    disk.broken = true;
    await writer.write();
    expect(log).toHaveLength(2);
  });

  it('writes changes only if there are any, and again after a failure', async () => {
    const { writer, disk } = create();
    await writer.writeChanges();
    expect(disk.writes).toBe(0);
    disk.broken = true;
    writer.changed();
    await writer.writeChanges();
    disk.broken = false;
    await writer.writeChanges();
    await writer.writeChanges();
    expect(disk.writes).toBe(2);
  });

  it('waits for a write that has begun', async () => {
    const { writer, disk } = create();
    void writer.write();
    await writer.writeChanges();
    expect(disk.writes).toBe(1);
  });
});

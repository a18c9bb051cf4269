import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Override } from '../../src/overrides/override.ts';
import {
  createOverrideFiles,
  readOverrideFiles,
  SHOWN_EVENTS,
  type OverrideEvent,
} from '../../src/overrides/override-files.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { NOW, overrideWith } from './override-with.ts';

const ideas = overrideWith();
const stale = overrideWith({ operation: 'listQuestions', kind: 'force-stale', maxStaleSeconds: 60, by: undefined });
const level = overrideWith({ kind: 'level', check: 'responses', level: 'report', from: undefined });
const event = (override: Override, more: Partial<OverrideEvent> = {}): OverrideEvent => {
  return { event: 'set', at: NOW, override, ...more };
};

function filesIn(folder = join(tempFolder(), 'new'), maxTrailBytes?: number) {
  const file = join(folder, 'overrides.json');
  const errors: unknown[] = [];
  const files = createOverrideFiles(file, (error) => errors.push(error), maxTrailBytes);
  return { folder, file, trail: join(folder, 'overrides-audit.jsonl'), errors, files };
}

describe('the files of overrides', () => {
  it('contain the active overrides and every event, and only their owner may read them', async () => {
    const { folder, file, trail, files } = filesIn();
    expect(readOverrideFiles(file)).toEqual({ active: [], events: [] });
    const ended = event(ideas, { event: 'ended', endedBy: { by: 'bob', from: '::1' } });
    files.record(event(ideas), [ideas]);
    files.record(event(stale), [ideas, stale]);
    files.record(ended, [stale, level]);
    expect(await files.written()).toBe(true);
    expect(readOverrideFiles(file)).toEqual({ active: [stale, level], events: [event(ideas), event(stale), ended] });
    expect(readdirSync(folder).toSorted()).toEqual(['overrides-audit.jsonl', 'overrides.json']);
    expect([file, trail].map((one) => statSync(one).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  // The process can be killed while it is writing a line.
  it('keep later events readable after an incomplete or damaged line', async () => {
    const { file, trail, files } = filesIn();
    files.record(event(ideas), [ideas]);
    await files.written();
    appendFileSync(trail, '{"at":"2026-05-04T10:00:00.000Z","event":"set","opera');
    files.record(event(stale), [stale]);
    await files.written();
    appendFileSync(trail, '\nnull\n{"event":"renamed"}\n[]\n');
    expect(readOverrideFiles(file).events).toEqual([event(ideas), event(stale)]);
  });

  it('are bounded: a full audit trail is renamed, and both files are read', async () => {
    const { folder, file, files } = filesIn(undefined, 1000);
    const count = 30;
    for (let index = 0; index < count; index += 1) files.record(event(overrideWith({ reason: `INC-${index}` })), []);
    await files.written();
    expect(readdirSync(folder).toSorted()).toEqual(
      expect.arrayContaining(['overrides-audit.1.jsonl', 'overrides.json']) as string[],
    );
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    expect(Math.max(...sizes)).toBeLessThan(1300);
    const { events } = readOverrideFiles(file);
    expect(events.at(-1)?.override.reason).toBe(`INC-${count - 1}`);
    expect(events.length).toBeGreaterThan(3);
    expect(events.length).toBeLessThan(Math.min(count, SHOWN_EVENTS));
  });

  it('report each failed write, and the next one can succeed', async () => {
    const { folder, file, errors, files } = filesIn();
    mkdirSync(file, { recursive: true });
    files.record(event(ideas), [ideas]);
    expect(await files.written()).toBe(false);
    expect(errors).toHaveLength(1);
    // The audit trail was still written.
    expect(readFileSync(join(folder, 'overrides-audit.jsonl'), 'utf8')).toContain('INC-17');
  });

  it('are not written at all in memory', async () => {
    const files = createOverrideFiles(':memory:', () => expect.unreachable());
    files.record(event(ideas), [ideas]);
    expect(await files.written()).toBe(true);
    expect(readOverrideFiles(':memory:')).toEqual({ active: [], events: [] });
  });

  const stored = (more: object) => ({
    operation: 'listIdeas',
    kind: 'disable',
    reason: 'x',
    setAt: '2026-05-04T10:00:00Z',
    until: '2026-05-04T11:00:00Z',
    ...more,
  });
  it.each([
    ['', 'it is not JSON'],
    ['[]', 'the file must be an object'],
    ['{"version":2,"overrides":[]}', 'version must be 1'],
    ['{"version":1}', 'overrides must be a list'],
    ['{"version":1,"overrides":[7]}', 'overrides[0] must be an object'],
    [[stored({ setAt: 'now' })], 'overrides[0].setAt must be an instant'],
    [[stored({ operation: 7 })], 'overrides[0].operation must be text'],
    // It must not be possible to bypass the rules for operators by editing the file.
    [[stored({}), stored({ until: '2026-06-04T11:00:00Z' })], 'overrides[1].until: The end must be at most 168 hours'],
    [[stored({ kind: 'level', check: 'permissions', level: 'off' })], 'overrides[0].check:'],
    [[stored({ reason: '' })], 'overrides[0].reason:'],
  ])('are refused at the start if they are damaged: %j', (content, message) => {
    const folder = tempFolder();
    const file = join(folder, 'overrides.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify({ version: 1, overrides: content }));
    expect(() => readOverrideFiles(file)).toThrow(message);
  });
});

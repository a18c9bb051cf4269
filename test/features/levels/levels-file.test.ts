import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { LadderEntry, LevelEntry, LevelsState } from '../../../src/features/levels/level-entry.ts';
import {
  createLevelsFile,
  formatLevels,
  parseLevels,
  readLevelsFile,
  writeLevelsFile,
} from '../../../src/features/levels/levels-file.ts';
import { decisionWith, NOW, overrideWith } from './entries.ts';

describe('the file of levels', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-levels-file-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const ideas = decisionWith();
  const users = decisionWith({ operation: 'listUsers' });
  const state = (...entries: LevelEntry[]): LevelsState => ({
    contracts: [{ contract: 'v', since: NOW }],
    entries,
  });

  function fileIn(name: string, known?: LevelsState) {
    const path = join(folder, name, 'levels.json');
    const taken: LadderEntry[] = [];
    const errors: unknown[] = [];
    let current = known ?? state();
    const events = {
      onError: (error: unknown) => errors.push(error),
      onRemoved: (entry: LadderEntry) => taken.push(entry),
      current: () => current,
    };
    const open = () => {
      const file = createLevelsFile(path, known, events);
      const write: typeof file.write = (next, recorded) => {
        current = next;
        file.write(next, recorded);
      };
      return { ...file, write };
    };
    return { path, taken, errors, open };
  }

  describe('at work', () => {
    it('contains the latest state, is readable only by its owner, and leaves no temporary file', async () => {
      const { path, open } = fileIn('latest');
      expect(readLevelsFile(path)).toBeUndefined();
      const file = open();
      for (let index = 0; index < 20; index += 1) file.write(state(decisionWith({ judged: index })));
      await file.written();
      expect(readLevelsFile(path)).toEqual(state(decisionWith({ judged: 19 })));
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(readdirSync(join(folder, 'latest'))).toEqual(['levels.json']);
    });

    it('reports steps that another process removed, once, and not the changes of this process', async () => {
      const { path, taken, open } = fileIn('followed');
      const file = open();
      file.write(state(ideas, users));
      await file.written();
      await file.checkForChanges();
      expect(taken).toEqual([]);
      await writeLevelsFile(path, state(users));
      await file.checkForChanges();
      await file.checkForChanges();
      expect(taken).toEqual([ideas]);
    });

    it('reports removed steps before it is overwritten', async () => {
      const { path, taken, open } = fileIn('overwritten', state(ideas));
      await writeLevelsFile(path, state(ideas));
      const file = open();
      await writeLevelsFile(path, state());
      file.write(state(ideas, users));
      await file.written();
      expect(taken).toEqual([ideas]);
    });

    it('ignores changes that are invalid or belong to another contract', async () => {
      const { path, taken, errors, open } = fileIn('foreign', state(ideas));
      await writeLevelsFile(path, state(ideas));
      const file = open();
      await writeLevelsFile(path, { ...state(), contracts: [{ contract: 'another', since: NOW }] });
      await file.checkForChanges();
      writeFileSync(path, '{');
      await file.checkForChanges();
      expect(taken).toEqual([]);
      expect(errors).toHaveLength(1);
    });

    it('does not write through a link beside it, and replaces a link under its own name', async () => {
      const { path } = fileIn('linked');
      const other = join(folder, 'other.txt');
      writeFileSync(other, 'untouched');
      mkdirSync(join(folder, 'linked'));
      for (const name of [path, `${path}.tmp`, `${path}.${process.pid}.tmp`]) symlinkSync(other, name);
      await writeLevelsFile(path, state(ideas));
      expect(readFileSync(other, 'utf8')).toBe('untouched');
      expect(readLevelsFile(path)).toEqual(state(ideas));
    });

    it('is written only once the change has its entry in the audit trail', async () => {
      const { path, open } = fileIn('recorded');
      const file = open();
      const recorded = Promise.withResolvers<boolean>();
      file.write(state(overrideWith()), recorded.promise);
      await new Promise(setImmediate);
      expect(readLevelsFile(path)).toBeUndefined();
      recorded.resolve(false);
      expect(await file.written()).toBe(false);
      expect(readLevelsFile(path)).toEqual(state(overrideWith()));
    });

    it('is written again if another process has stored older overrides', async () => {
      const { path, taken, open } = fileIn('older', state(ideas, overrideWith()));
      await writeLevelsFile(path, state(ideas, overrideWith()));
      const file = open();
      // `portico ladder --lift` read the file before the override was set.
      await writeLevelsFile(path, state(ideas));
      await file.checkForChanges();
      expect(taken).toEqual([]);
      expect(readLevelsFile(path)).toEqual(state(ideas, overrideWith()));
    });

    it('reports each failed write, and the next one can succeed', async () => {
      const { path, errors, open } = fileIn('failed');
      const file = open();
      mkdirSync(path, { recursive: true });
      file.write(state());
      expect(await file.written()).toBe(false);
      expect(errors).not.toEqual([]);
      rmSync(path, { recursive: true });
      file.write(state(ideas));
      expect(await file.written()).toBe(true);
    });

    it('is not written at all in memory', async () => {
      const events = { onError: () => expect.unreachable(), onRemoved: () => undefined, current: () => state() };
      const file = createLevelsFile(':memory:', undefined, events);
      file.write(state(ideas));
      expect(await file.written()).toBe(true);
      await file.checkForChanges();
      expect(readLevelsFile(':memory:')).toBeUndefined();
    });

    it('stays in memory if it cannot be written', async () => {
      writeFileSync(join(folder, 'stands-in-the-way'), '');
      const { errors, open } = fileIn('stands-in-the-way');
      const file = open();
      file.write(state(ideas));
      await file.written();
      expect(errors).toHaveLength(1);
      expect(readFileSync(join(folder, 'stands-in-the-way'), 'utf8')).toBe('');
    });
  });
});

describe('the text of the file', () => {
  const state: LevelsState = {
    contracts: [{ contract: 'v', since: NOW }],
    entries: [
      decisionWith(),
      decisionWith({ operation: 'listUsers', move: 'promoted' }),
      overrideWith(),
      overrideWith({ kind: 'level', check: 'responses', level: 'report', from: undefined }),
      overrideWith({ operation: 'listQuestions', kind: 'force-stale', maxStaleSeconds: 60, by: undefined }),
    ],
  };
  const entries = (...all: LevelEntry[]): LevelsState => ({ ...state, entries: all });

  it('can be read back', () => {
    expect(parseLevels(formatLevels(state))).toEqual(state);
  });

  it.each([
    ['', 'it is not JSON'],
    ['{"version": 1', 'it is not JSON'],
    ['[]', 'the file must be an object'],
    [formatLevels(state).replace('"version": 1', '"version": 2'), 'version must be 1'],
    ['{"version":1,"entries":[]}', 'contracts must be a list'],
    ['{"version":1,"contracts":[],"entries":7}', 'entries must be a list'],
    ['{"version":1,"contracts":[],"entries":[7]}', 'entries[0] must be an object'],
    [
      '{"version":1,"contracts":[],"entries":[{"source":"configuration"}]}',
      'entries[0].source must be ladder or operator',
    ],
    [formatLevels({ ...state, contracts: [{ contract: '', since: NOW }] }), 'contracts[0].contract must be text'],
    [formatLevels(entries(decisionWith({ contract: '' }))), 'entries[0].contract must be text'],
    [formatLevels(state).replace('"responses"', '"undocumented"'), 'entries[0].check is not a check of the ladder'],
    [formatLevels(state).replace('"demoted"', '"raised"'), 'entries[0].move must be one of'],
    [formatLevels(entries(decisionWith({ check: 'permissions' }))), 'only responses can be demoted'],
    [
      formatLevels(entries(decisionWith())).replace(/"since": "2026-05-11T11[^"]+"/, '"since": "yesterday"'),
      'must be an instant',
    ],
    [formatLevels(state).replace('"judged": 40', '"judged": "40"'), 'entries[0].judged must be a number'],
    [formatLevels(entries(decisionWith(), decisionWith())), 'two entries for the same check'],
    [formatLevels(entries(overrideWith(), overrideWith())), 'two entries for the same check'],
    [formatLevels(entries(overrideWith({ operation: 7 as unknown as string }))), 'entries[0].operation must be text'],
    // It must not be possible to bypass the rules for operators by editing the file.
    [
      formatLevels(entries(overrideWith({ until: NOW + 169 * 3_600_000 }))),
      'entries[0].until: The end must be at most 168 hours',
    ],
    [
      formatLevels(entries(overrideWith({ kind: 'level', check: 'permissions' as 'requests', level: 'off' }))),
      'entries[0].check:',
    ],
    [formatLevels(entries(overrideWith({ reason: '' }))), 'entries[0].reason:'],
  ])('is rejected if it is damaged: %#', (text, message) => {
    expect(() => parseLevels(text)).toThrow(message);
  });
});

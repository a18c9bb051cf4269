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
import {
  createLadderFile,
  formatLadder,
  parseLadder,
  readLadderFile,
  writeLadderFile,
} from '../../../../src/features/levels/ladder/ladder-file.ts';
import type { LadderStep } from '../../../../src/features/levels/ladder/ladder-step.ts';
import { NOW, stepWith } from './levels.ts';

describe('the file of the ladder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-ladder-file-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const ideas = stepWith();
  const users = stepWith({ operation: 'listUsers' });
  const state = (...steps: LadderStep[]) => ({ contract: 'v', since: NOW, steps });

  function fileIn(name: string, known?: ReturnType<typeof state>) {
    const path = join(folder, name, 'ladder.json');
    const taken: LadderStep[] = [];
    const errors: unknown[] = [];
    const events = {
      onError: (error: unknown) => errors.push(error),
      onRemoved: (step: LadderStep) => taken.push(step),
    };
    return { path, taken, errors, open: () => createLadderFile(path, known, events) };
  }

  describe("the ladder's file", () => {
    it('contains the latest state, is readable only by its owner, and leaves no temporary file', async () => {
      const { path, open } = fileIn('latest');
      expect(readLadderFile(path)).toBeUndefined();
      const file = open();
      for (let index = 0; index < 20; index += 1) file.write(state(stepWith({ judged: index })));
      await file.written();
      expect(readLadderFile(path)).toEqual(state(stepWith({ judged: 19 })));
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(readdirSync(join(folder, 'latest'))).toEqual(['ladder.json']);
    });

    it('reports steps that another process removed, once, and not the changes of this process', async () => {
      const { path, taken, open } = fileIn('followed');
      const file = open();
      file.write(state(ideas, users));
      await file.written();
      await file.checkForChanges();
      expect(taken).toEqual([]);
      await writeLadderFile(path, state(users));
      await file.checkForChanges();
      await file.checkForChanges();
      expect(taken).toEqual([ideas]);
    });

    it('reports removed steps before it is overwritten', async () => {
      const { path, taken, open } = fileIn('overwritten', state(ideas));
      await writeLadderFile(path, state(ideas));
      const file = open();
      await writeLadderFile(path, state());
      file.write(state(ideas, users));
      await file.written();
      expect(taken).toEqual([ideas]);
    });

    it('ignores changes that are invalid or belong to another contract', async () => {
      const { path, taken, errors, open } = fileIn('foreign', state(ideas));
      await writeLadderFile(path, state(ideas));
      const file = open();
      await writeLadderFile(path, { ...state(), contract: 'another' });
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
      await writeLadderFile(path, state(ideas));
      expect(readFileSync(other, 'utf8')).toBe('untouched');
      expect(readLadderFile(path)).toEqual(state(ideas));
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

describe("the text of the ladder's file", () => {
  const state = {
    contract: 'v1',
    since: NOW,
    steps: [stepWith(), stepWith({ operation: 'listUsers', move: 'promoted' })],
  };

  it('can be read back', () => {
    expect(parseLadder(formatLadder(state))).toEqual(state);
  });

  it.each([
    ['no text', ''],
    ['invalid JSON', '{"version": 1'],
    ['a list', '[]'],
    ['another version', formatLadder(state).replace('"version": 1', '"version": 2')],
    ['an empty contract', formatLadder({ ...state, contract: '' })],
    ['an unknown check', formatLadder(state).replace('"responses"', '"undocumented"')],
    ['an unknown move', formatLadder(state).replace('"demoted"', '"raised"')],
    ['a demotion of another check', formatLadder({ ...state, steps: [stepWith({ check: 'permissions' })] })],
    ['an invalid time', formatLadder(state).replace(/"at": "[^"]+"/, '"at": "yesterday"')],
    ['an invalid count', formatLadder(state).replace('"judged": 40', '"judged": "40"')],
    ['a repeated step', formatLadder({ ...state, steps: [stepWith(), stepWith()] })],
  ])('is rejected with %s', (_what, text) => {
    expect(() => parseLadder(text)).toThrow(Error);
  });
});

import {
  existsSync,
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
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder, replaceFile, replaceFileSync, whyUnwritable } from '../../src/lib/replace-file.ts';
import { tempFolder } from '../builders/temp-folder.ts';

describe('replaceFile', () => {
  const folder = tempFolder();
  const permissionsOf = (path: string) => statSync(path).mode & 0o777;

  describe.each([
    ['replaceFile', replaceFile],
    [
      'replaceFileSync',
      async (file: string, text: string, mode: number) => Promise.resolve(replaceFileSync(file, text, mode)),
    ],
  ])('%s', (name, replace) => {
    const file = join(folder, name, 'kept.json');

    it('creates the folder for its owner only, and leaves no temporary file in it', async () => {
      await replace(file, 'one', 0o600);
      await replace(file, 'two', 0o600);
      expect(readFileSync(file, 'utf8')).toBe('two');
      expect({ file: permissionsOf(file), folder: permissionsOf(join(folder, name)) }).toEqual({
        file: 0o600,
        folder: 0o700,
      });
      expect(readdirSync(join(folder, name))).toEqual(['kept.json']);
    });

    it('removes its temporary file if the target cannot be replaced', async () => {
      const taken = join(folder, `${name}-taken`);
      mkdirSync(join(taken, 'kept.json'), { recursive: true });
      await expect((async () => replace(join(taken, 'kept.json'), 'text', 0o600))()).rejects.toThrow();
      expect(readdirSync(taken)).toEqual(['kept.json']);
    });
  });

  describe('a canceled replacement', () => {
    it('leaves no trace', async () => {
      const file = join(folder, 'unwanted', 'kept.json');
      await replaceFile(file, 'text', 0o600, () => false);
      expect(existsSync(file)).toBe(false);
      expect(readdirSync(join(folder, 'unwanted'))).toEqual([]);
    });
  });
});

describe('makeFolder', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'portico-folder-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  describe('making a folder', () => {
    it('creates parent folders too, for this user only', () => {
      makeFolder(join(root, 'a', 'b'));
      for (const path of ['a', 'a/b']) expect(statSync(join(root, path)).mode & 0o777).toBe(0o700);
    });

    it('leaves an existing one unchanged', () => {
      makeFolder(join(root, 'a'));
      writeFileSync(join(root, 'a', 'kept'), '');
      makeFolder(join(root, 'a'));
      expect(statSync(join(root, 'a', 'kept')).isFile()).toBe(true);
    });

    // For such a path, Node's own recursive option would retry forever.
    it('fails if no folder can be created there', () => {
      expect(() => makeFolder('/proc/portico/ledger')).toThrow('ENOENT');
    });

    it('fails below a path that is not a folder', () => {
      writeFileSync(join(root, 'file'), '');
      expect(() => makeFolder(join(root, 'file', 'a'))).toThrow('ENOTDIR');
    });
  });
});

describe('the check that a file can be written', () => {
  const folder = tempFolder();

  it('returns the reason if not, and leaves nothing behind otherwise', async () => {
    writeFileSync(join(folder, 'plain'), '');
    expect(await whyUnwritable(join(folder, 'plain', 'kept.json'))).toBe(
      'a part of the path is not a folder (ENOTDIR)',
    );
    expect(await whyUnwritable(join(folder, 'new', 'kept.json'))).toBeUndefined();
    expect(readdirSync(join(folder, 'new'))).toEqual([]);
    expect(await whyUnwritable(':memory:')).toBeUndefined();
  });

  it('does not follow a link at that path', async () => {
    const other = join(folder, 'other.txt');
    writeFileSync(other, 'untouched');
    const file = join(folder, 'kept.json');
    for (const name of [file, `${file}.tmp`, `${file}.${process.pid}.tmp`]) symlinkSync(other, name);
    expect(await whyUnwritable(file)).toBeUndefined();
    expect(readFileSync(other, 'utf8')).toBe('untouched');
  });
});

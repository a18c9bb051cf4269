import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replaceFile, replaceFileSync } from '../../src/files/replace-file.ts';
import { tempFolder } from '../builders/temp-folder.ts';

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

  it('makes the folder for its owner only, and leaves nothing unfinished in it', async () => {
    await replace(file, 'one', 0o600);
    await replace(file, 'two', 0o600);
    expect(readFileSync(file, 'utf8')).toBe('two');
    expect({ file: permissionsOf(file), folder: permissionsOf(join(folder, name)) }).toEqual({
      file: 0o600,
      folder: 0o700,
    });
    expect(readdirSync(join(folder, name))).toEqual(['kept.json']);
  });

  it('takes its draft away when the place cannot be taken', async () => {
    const taken = join(folder, `${name}-taken`);
    mkdirSync(join(taken, 'kept.json'), { recursive: true });
    await expect((async () => replace(join(taken, 'kept.json'), 'text', 0o600))()).rejects.toThrow();
    expect(readdirSync(taken)).toEqual(['kept.json']);
  });
});

describe('a replacement that is not wanted any more', () => {
  it('leaves no trace', async () => {
    const file = join(folder, 'unwanted', 'kept.json');
    await replaceFile(file, 'text', 0o600, () => false);
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(join(folder, 'unwanted'))).toEqual([]);
  });
});

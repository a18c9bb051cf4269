import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { isReadableByOthers, readSecretFile } from '../../src/lib/secret-file.ts';
import { tempFolder } from '../builders/temp-folder.ts';

function fileWith(text: string, mode = 0o600): string {
  const path = join(tempFolder(), 'secret');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

describe('a secret file', () => {
  it.each(['open sesame', 'open sesame\n', 'open sesame\r\n', 'open sesame\nmore\n'])(
    'contains its secret on the first line: %j',
    (text) => {
      expect(readSecretFile(fileWith(text))).toEqual({ text: 'open sesame' });
    },
  );

  it.each(['', '\n', '\r\nopen sesame'])('is refused with an empty first line: %j', (text) => {
    const path = fileWith(text);
    expect(readSecretFile(path)).toEqual({ fault: `the first line of the file ${path} is empty` });
  });

  it('is refused with a placeholder, which the reason does not repeat', () => {
    const path = fileWith('change-me\n');
    expect(readSecretFile(path)).toEqual({
      fault: `the first line of the file ${path} is a placeholder that has not been replaced`,
    });
  });

  it('is refused with the reason if it cannot be read', () => {
    const path = join(tempFolder(), 'missing');
    expect(readSecretFile(path)).toEqual({
      fault: `the file ${path} cannot be read: there is no such file or folder (ENOENT)`,
    });
  });
});

describe('isReadableByOthers', () => {
  it.each([
    [0o600, false],
    [0o640, false],
    [0o660, false],
    [0o604, true],
    [0o644, true],
    [0o602, false],
    [0o601, false],
  ])('of mode %o is %s', (mode, expected) => {
    expect(isReadableByOthers(fileWith('x', mode))).toBe(expected);
  });

  it('is false for a file that does not exist', () => {
    expect(isReadableByOthers(join(tempFolder(), 'missing'))).toBe(false);
  });

  it('is false on Windows, where the mode does not show it', () => {
    vi.spyOn(process, 'platform', 'get').mockReturnValue('win32');
    expect(isReadableByOthers(fileWith('x', 0o644))).toBe(false);
  });
});

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from '../../src/files/make-folder.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'portico-folder-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('making a folder', () => {
  it('makes those above it too, for this user alone', () => {
    makeFolder(join(root, 'a', 'b'));
    for (const path of ['a', 'a/b']) expect(statSync(join(root, path)).mode & 0o777).toBe(0o700);
  });

  it('leaves one alone that is there', () => {
    makeFolder(join(root, 'a'));
    writeFileSync(join(root, 'a', 'kept'), '');
    makeFolder(join(root, 'a'));
    expect(statSync(join(root, 'a', 'kept')).isFile()).toBe(true);
  });

  // Node's recursive way tries for ever there.
  it('fails where nobody can make one', () => {
    expect(() => makeFolder('/proc/portico/ledger')).toThrow('ENOENT');
  });

  it('fails below what is no folder', () => {
    writeFileSync(join(root, 'file'), '');
    expect(() => makeFolder(join(root, 'file', 'a'))).toThrow('ENOTDIR');
  });
});

import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readKeyedState, writeKeyedState } from '../../src/lib/keyed-state-file.ts';
import { tempFolder } from '../builders/temp-folder.ts';

let file: string;

beforeEach(() => {
  file = join(tempFolder(), 'state.json');
});

describe('a state file with a key', () => {
  it('gives back what was written, and only its owner can read it', async () => {
    const { key, state } = readKeyedState(file);
    expect(key).toHaveLength(32);
    expect(state).toBeUndefined();
    await writeKeyedState(file, key, { counts: [1, 2] });
    expect(readKeyedState(file)).toEqual({ key, state: { counts: [1, 2] } });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      version: 1,
      key: key.toString('base64url'),
      counts: [1, 2],
    });
  });

  it('has another key each time that there is no file', () => {
    expect(readKeyedState(file).key).not.toEqual(readKeyedState(file).key);
  });

  it('is not written in memory', async () => {
    await writeKeyedState(':memory:', Buffer.alloc(32), {});
    expect(readKeyedState(':memory:').state).toBeUndefined();
  });

  it.each([
    ['version must be 1', { version: 2, key: 'A'.repeat(43) }],
    ['key must be 32 bytes in base64url', { version: 1, key: 'AAAA' }],
    ['key must be 32 bytes in base64url', { version: 1 }],
  ])('is refused: %s', async (message, content) => {
    await writeFile(file, JSON.stringify(content));
    expect(() => readKeyedState(file)).toThrow(message);
  });
});

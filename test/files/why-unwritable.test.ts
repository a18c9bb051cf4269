import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { whyUnwritable } from '../../src/files/why-unwritable.ts';
import { tempFolder } from '../builders/temp-folder.ts';

const folder = tempFolder();

describe('whether a file can be written', () => {
  it('is answered with the reason why not, and leaves nothing behind where it can', async () => {
    writeFileSync(join(folder, 'plain'), '');
    expect(await whyUnwritable(join(folder, 'plain', 'kept.json'))).toMatch(/^[A-Z]+$/);
    expect(await whyUnwritable(join(folder, 'new', 'kept.json'))).toBeUndefined();
    expect(readdirSync(join(folder, 'new'))).toEqual([]);
    expect(await whyUnwritable(':memory:')).toBeUndefined();
  });

  it('is tried through no link that somebody put in its place', async () => {
    const other = join(folder, 'other.txt');
    writeFileSync(other, 'untouched');
    const file = join(folder, 'kept.json');
    for (const name of [file, `${file}.tmp`, `${file}.${process.pid}.tmp`]) symlinkSync(other, name);
    expect(await whyUnwritable(file)).toBeUndefined();
    expect(readFileSync(other, 'utf8')).toBe('untouched');
  });
});

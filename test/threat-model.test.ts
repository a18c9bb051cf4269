import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readText, ROOT } from './readme/tables.ts';

const page = readText('docs/threat-model.md');
const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| asset'));

describe('the threat model', () => {
  it('names a guard and an existing test in every row', () => {
    expect(rows.length).toBeGreaterThan(30);
    const wrong = rows.filter((row) => {
      const [, , , guard = '', tests = ''] = row.split('|').map((cell) => cell.trim());
      const files = [...tests.matchAll(/\]\(\.\.\/(test\/[^)]+\.test\.ts)\)/g)].map(([, file = '']) => file);
      return guard === '' || files.length === 0 || !files.every((file) => existsSync(join(ROOT, file)));
    });
    expect(wrong).toEqual([]);
  });

  it.each(['test/security', 'test/trust'])('names every test in %s', (folder) => {
    const files = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.test.ts'));
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((name) => !page.includes(`../${folder}/${name}`))).toEqual([]);
  });
});

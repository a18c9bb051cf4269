import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { brokenImports, importCycles, type SourceFile } from './architecture/floors.ts';

const root = join(import.meta.dirname, '..', 'src');
const files: SourceFile[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(root, path), 'utf8') }));

describe('the floors of the house', () => {
  it('hold: every import lands in its own folder or on a lower floor', () => {
    expect(brokenImports(files)).toEqual([]);
  });

  it('hold no cycle of imports', () => {
    expect(importCycles(files)).toEqual([]);
  });

  it('bite on a planted upward import', () => {
    const planted = { path: 'cache/planted.ts', text: "import { x } from '../pipeline/order.ts';" };
    expect(brokenImports([...files, planted])).toEqual(['cache/planted.ts → pipeline/order.ts']);
  });

  it('bite on a planted import between two features and on one into the reference server', () => {
    const sideways = { path: 'cache/planted.ts', text: "export { x } from '../identity/planted.ts';" };
    const reference = {
      path: 'http/planted.ts',
      text: "const x = await import('../reference/start-reference-server.ts');",
    };
    expect(brokenImports([sideways, reference])).toHaveLength(2);
  });

  it('bite on a planted cycle', () => {
    const a = { path: 'lib/a.ts', text: "import './b.ts';" };
    const b = { path: 'lib/b.ts', text: "import './a.ts';" };
    expect(importCycles([a, b])).toHaveLength(1);
  });

  it('are asked of every file: a path outside the plan is an error of its own', () => {
    expect(brokenImports([{ path: 'stray/file.ts', text: '' }])).toEqual(['stray/file.ts is on no floor']);
    expect(dirname(relative(root, join(root, 'lib/clock.ts')))).toBe('lib');
  });
});

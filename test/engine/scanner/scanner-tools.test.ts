import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { runFuzz } from '../../../tools/scanner/fuzz.ts';
import { fuzzScanner } from '../../../tools/scanner/fuzz-scanner.ts';

const root = join(import.meta.dirname, '..', '..', '..');

describe('the committed module of the scanner', () => {
  it('is what its sources compile to', () => {
    const args = [join(root, 'tools', 'scanner', 'build.ts'), '--check'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('imports nothing, so that it can only compute', () => {
    const module = new WebAssembly.Module(readFileSync(join(root, 'src', 'engine', 'scanner', 'scanner.wasm')));
    expect(WebAssembly.Module.imports(module)).toEqual([]);
    expect(WebAssembly.Module.exports(module).map(({ name }) => name)).toEqual(['scan', 'memory']);
  });
});

describe('the comparison of the scanner with the validator', () => {
  it('prints the seed of a run, and makes the same bodies of the same seed', async () => {
    const out = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
    const status = await runFuzz(200, 3);
    const { valid, invalid, closer, wrong } = fuzzScanner({ count: 200, seed: 3 });
    expect(out.mock.calls).toEqual([
      [`seed 3: 200 bodies, ${valid} valid, ${invalid} invalid, ${closer} valid but looked at closer`],
      ['no wrong results'],
    ]);
    expect([status, wrong]).toEqual([0, []]);
  });
});

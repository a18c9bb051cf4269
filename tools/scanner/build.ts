import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCommandLine } from '../command-line.ts';

const HELP = `Compiles the response scanner from tools/scanner/module/ to src/engine/scanner/scanner.wasm.

Usage: npm run scanner [-- FLAGS]

  --check              Write nothing. Exit with 1 if the committed module is not what the sources compile to.
  --help               Show this help.`;

const root = join(import.meta.dirname, '..', '..');
const target = join(root, 'src', 'engine', 'scanner', 'scanner.wasm');

// The module imports, throws and allocates nothing, so it needs no runtime.
const OPTIONS = [
  ['--runtime', 'stub', '--use', 'abort=', '--noAssert'],
  ['--optimizeLevel', '3', '--shrinkLevel', '0', '--converge'],
  ['--enable', 'simd'],
  // The number of 64 KiB pages for the events and the first tables. The host grows the memory if more is needed.
  ['--initialMemory', '5'],
].flat();

/** Returns the compiled module. Throws if the compiler reports an error. */
function compileModule(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'portico-scanner-'));
  try {
    const file = join(folder, 'scanner.wasm');
    const compiler = join(root, 'node_modules', 'assemblyscript', 'bin', 'asc.js');
    const args = [compiler, 'tools/scanner/module/scan.ts', '--outFile', file, ...OPTIONS];
    // The compiler is itself a WebAssembly module. V8 would take longer to optimize it than to run it.
    const { status } = spawnSync(process.execPath, ['--liftoff-only', ...args], { cwd: root, stdio: 'inherit' });
    if (status !== 0) throw new Error('the scanner was not compiled');
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { values } = readCommandLine(HELP, { check: { type: 'boolean', default: false } });
const fresh = compileModule();
const isCurrent = existsSync(target) && readFileSync(target).equals(fresh);
if (!isCurrent && values.check) {
  console.error('src/engine/scanner/scanner.wasm is stale: run npm run scanner');
  process.exitCode = 1;
} else if (!isCurrent) writeFileSync(target, fresh);

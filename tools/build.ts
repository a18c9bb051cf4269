import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine } from './command-line.ts';

const HELP = `Compiles the sources to JavaScript in dist/. The package takes bin/, config/ and schemas/ directly from the
repository.

Usage: npm run build [-- FLAGS]

  --noCheck            Do not check the types.
  --help               Show this help.`;

const { values } = readCommandLine(HELP, { noCheck: { type: 'boolean', default: false } });
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const args = ['--project', join(root, 'tsconfig.build.json'), ...(values.noCheck ? ['--noCheck'] : [])];
const compiled = spawnSync(process.execPath, [compiler, ...args], { stdio: 'inherit' });
if (compiled.status === 0) {
  // Copies the other files needed by the program, such as the console's pages and the scanner.
  cpSync(join(root, 'src'), dist, { recursive: true, filter: (path) => !path.endsWith('.ts') });
  const main = join(dist, 'cli', 'main.js');
  if (!existsSync(main)) throw new Error(`${main} was not written`);
  console.log('dist/ is built; node bin/portico.mjs uses it where src/ is absent');
}
process.exitCode = compiled.status ?? 1;

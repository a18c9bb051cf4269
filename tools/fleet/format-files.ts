import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** Formats files with the repository's formatter. Does nothing if the formatter is not installed. */
export function formatFiles(files: readonly string[]): void {
  const prettier = join(ROOT, 'node_modules', 'prettier', 'bin', 'prettier.cjs');
  const args = [prettier, '--write', '--log-level=silent', ...files];
  spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'ignore' });
}

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** Formats files as the repository is; without the formatter they say the same and only the check of formats complains. */
export function formatFiles(files: readonly string[]): void {
  const prettier = join(ROOT, 'node_modules', 'prettier', 'bin', 'prettier.cjs');
  const args = [prettier, '--write', '--log-level=silent', ...files];
  spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'ignore' });
}

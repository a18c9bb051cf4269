import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Results } from '../results.ts';
import { toChart } from './chart.ts';
import { toJson } from './json.ts';
import { toMarkdown } from './markdown.ts';

/** Writes RESULTS.md, results.json and results.svg into a folder, formatted as the repository is. */
export function writeReport(results: Results, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const file = (name: string) => join(folder, name);
  writeFileSync(file('results.svg'), toChart(results));
  writeFileSync(file('RESULTS.md'), toMarkdown(results, 'results.svg'));
  writeFileSync(file('results.json'), toJson(results));
  const root = join(import.meta.dirname, '..', '..');
  const prettier = join(root, 'node_modules', 'prettier', 'bin', 'prettier.cjs');
  // Without it the files say the same; only the check of formats would complain.
  spawnSync(process.execPath, [prettier, '--write', '--log-level=silent', file('RESULTS.md'), file('results.json')], {
    cwd: root,
    stdio: 'ignore',
  });
}

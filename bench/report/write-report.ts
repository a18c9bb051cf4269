import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Results } from '../results.ts';
import { toChart } from './chart.ts';
import { formatFiles } from './format-files.ts';
import { toJson } from './json.ts';
import { toMarkdown } from './markdown.ts';

/** Writes RESULTS.md, results.json and results.svg into a folder, formatted like the rest of the repository. */
export function writeReport(results: Results, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const file = (name: string) => join(folder, name);
  writeFileSync(file('results.svg'), toChart(results));
  writeFileSync(file('RESULTS.md'), toMarkdown(results, 'results.svg'));
  writeFileSync(file('results.json'), toJson(results));
  formatFiles([file('RESULTS.md'), file('results.json')]);
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatFiles } from './format-files.ts';

/** A file in a report. The name does not include a folder. */
export interface ReportFile {
  readonly name: string;
  readonly text: string;
}

/** Writes files to a folder. Markdown and JSON are formatted like the rest of the repository. */
export function writeFiles(files: readonly ReportFile[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { name, text } of files) writeFileSync(join(folder, name), text);
  formatFiles(files.filter(({ name }) => /\.(?:md|json)$/.test(name)).map(({ name }) => join(folder, name)));
}

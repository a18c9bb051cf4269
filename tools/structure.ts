import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readCommandLine } from './command-line.ts';

const HELP = `Lists the subfolders of src/ that import each other. Exits with 1 if it finds any.

Usage: npm run structure

  --help               Show this help.`;

/** A source file and its path under `src`. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Returns the relative imports of a file as paths under `src`. A path outside `src` begins with `..`. */
export function importsOf(file: SourceFile): string[] {
  const specifiers = [...file.text.matchAll(/(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g)];
  return specifiers.map((match) => posix.join(posix.dirname(file.path), match[1] ?? ''));
}

/** Returns the pairs of subfolders that import each other. */
export function mutualFolders(files: readonly SourceFile[]): string[] {
  const edges = new Set<string>();
  for (const file of files)
    for (const to of importsOf(file)) {
      const [from, target] = [posix.dirname(file.path), posix.dirname(to)];
      if (from.includes('/') && target.includes('/') && from.split('/')[0] === target.split('/')[0] && from !== target)
        edges.add(`${from} ${target}`);
    }
  return [...edges].filter((edge) => {
    const [from = '', to = ''] = edge.split(' ');
    // A folder and its own subfolders are one part.
    return from < to && !to.startsWith(`${from}/`) && edges.has(`${to} ${from}`);
  });
}

/** Reads every TypeScript file below a folder. The paths begin with the prefix. */
export function readSources(folder: string, prefix = ''): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
    .map((path) => ({ path: posix.join(prefix, path), text: readFileSync(join(folder, path), 'utf8') }));
}

if (import.meta.main) {
  readCommandLine(HELP, {});
  const found = mutualFolders(readSources(join(import.meta.dirname, '..', 'src')));
  console.log(found.length === 0 ? 'no subfolders import each other' : found.join('\n'));
  if (found.length > 0) process.exitCode = 1;
}

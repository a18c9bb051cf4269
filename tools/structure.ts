import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readCommandLine } from './command-line.ts';
import type { RequestFiles } from './request-files.ts';

const HELP = `Checks the layout of src/ against its limits, and counts the files that a request passes through. Exits
with 1 if a limit is exceeded.

Usage: npm run structure [-- FLAGS]

  --paths              List the files that a request passes through.
  --help               Show this help.`;

/** A source file and its path under `src`. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** How many files in `src` may run code for one request, in addition to one file per stage. */
const REQUEST_FILES = { hit: 15, miss: 45 } as const;

/**
 * Returns how many files in `src` may run code for a cache hit and for a validated cache miss. Each file in
 * `pipeline/stages` raises both limits by one.
 */
export function requestFileLimits(sources: readonly Pick<SourceFile, 'path'>[]): { hit: number; miss: number } {
  const stages = sources.filter(({ path }) => path.startsWith('pipeline/stages/')).length;
  return { hit: REQUEST_FILES.hit + stages, miss: REQUEST_FILES.miss + stages };
}

/** Counts that describe the layout of a source tree. */
export interface Structure {
  readonly files: number;
  /** The median number of lines per file. */
  readonly medianLines: number;
  /** The median number of lines per file, not counting blank lines, comments and imports. */
  readonly medianSubstance: number;
  /** Files with fewer than 15 lines, not counting blank lines, comments and imports. */
  readonly small: readonly string[];
  /** Folders with more than 24 files, not counting subfolders. */
  readonly crowded: readonly string[];
  /** Pairs of subfolders in one folder that import each other. */
  readonly mutual: readonly string[];
  /** Exported types that no other file imports, as `path#Name`. */
  readonly unsharedTypes: readonly string[];
}

/**
 * The limits on these counts. All other counts must be 0. The limits leave room for a few new files, so that a new
 * feature does not have to begin with merging or splitting files.
 */
export const STRUCTURE_LIMITS = { files: 460, medianLines: 70, medianSubstance: 65, small: 20 } as const;

const PACKAGE_ENTRY = 'portico.ts';
const MAX_SIBLINGS = 24;
const MIN_SUBSTANCE = 15;
const IMPORT = /(?:import|export)\s+(?:type\s+)?(?:\{([^}]*)\}|[\w*\s,{}]*?)\s*from\s*'(\.[^']+)'/g;
const EXPORTED_TYPE = /^export (?:interface|type) (\w+)/gm;

/**
 * Computes the counts that `test/architecture.test.ts` limits. `readers` are files outside the tree that may import
 * from the tree.
 */
export function measureStructure(files: readonly SourceFile[], readers: readonly SourceFile[] = []): Structure {
  const siblings = Map.groupBy(files, ({ path }) => posix.dirname(path));
  const shared = new Set([...files, ...readers].flatMap(importedNames));
  return {
    files: files.length,
    medianLines: medianOf(files.map(({ text }) => text.split('\n').length - 1)),
    medianSubstance: medianOf(files.map(({ text }) => linesOfSubstance(text))),
    small: files.filter(({ text }) => linesOfSubstance(text) < MIN_SUBSTANCE).map(({ path }) => path),
    crowded: [...siblings]
      .filter(([, held]) => held.length > MAX_SIBLINGS)
      .map(([folder, held]) => `${folder}: ${held.length}`),
    mutual: mutualFolders(files),
    unsharedTypes: files.flatMap(({ path, text }) =>
      // The package's exports are used by programs outside this repository.
      path === PACKAGE_ENTRY
        ? []
        : [...text.matchAll(EXPORTED_TYPE)].map((match) => `${path}#${match[1]}`).filter((name) => !shared.has(name)),
    ),
  };
}

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}

/** Returns the number of lines other than blank lines, comments and imports. */
function linesOfSubstance(text: string): number {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^import [\s\S]*?;$/gm, '');
  return code.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length;
}

/** Returns the names that a file imports from other files in the tree, as `path#Name`. */
function importedNames({ path, text }: SourceFile): string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, names = '', from]) => {
    if (from === undefined) return [];
    const target = resolveImport(path, from);
    return names.split(',').map(
      (name) =>
        `${target}#${
          name
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0]
        }`,
    );
  });
}

/** Returns the path of an import relative to `src`, regardless of where the importing file is. */
function resolveImport(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier).replace(/^(?:\.\.\/)*src\//, '');
}

/** Returns the relative imports of a file as paths under `src`. A path outside `src` begins with `..`. */
export function importsOf(file: SourceFile): string[] {
  const specifiers = [...file.text.matchAll(/(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g)];
  return specifiers.map((match) => posix.join(posix.dirname(file.path), match[1] ?? ''));
}

/** Returns the pairs of subfolders that import each other. */
function mutualFolders(files: readonly SourceFile[]): string[] {
  const edges = new Set<string>();
  for (const file of files)
    for (const to of importsOf(file)) {
      const [from, target] = [posix.dirname(file.path), posix.dirname(to)];
      if (from.includes('/') && target.includes('/') && from.split('/')[0] === target.split('/')[0] && from !== target)
        edges.add(`${from} ${target}`);
    }
  return [...edges].filter((edge) => {
    const [from = '', to = ''] = edge.split(' ');
    return from < to && edges.has(`${to} ${from}`);
  });
}

/** Reads every TypeScript file below a folder. The paths begin with the prefix. */
export function readSources(folder: string, prefix = ''): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
    .map((path) => ({ path: posix.join(prefix, path), text: readFileSync(join(folder, path), 'utf8') }));
}

/** Determines, in a separate process, which files in `src` contain code that runs during a request. */
export function measureRequestFiles(): RequestFiles {
  const program = join(import.meta.dirname, 'request-files.ts');
  return JSON.parse(execFileSync(process.execPath, [program], { encoding: 'utf8' })) as RequestFiles;
}

/** Prints one count, its limit and the counted items. If a count exceeds its limit, this program and a test fail. */
function row(name: string, value: number, limit: number, rest: readonly string[] = []): void {
  const text = limit === 0 ? 'none' : `at most ${limit}`;
  console.log(`${name.padEnd(44)} ${String(value).padStart(5)}   ${text}`);
  if (value > limit) process.exitCode = 1;
  for (const one of rest) console.log(`    ${one}`);
}

if (import.meta.main) {
  const { paths } = readCommandLine(HELP, { paths: { type: 'boolean', default: false } }).values;
  const root = join(import.meta.dirname, '..');
  const outside = ['test', 'tools', 'bench'].flatMap((folder) => readSources(join(root, folder), `../${folder}`));
  const sources = readSources(join(root, 'src'));
  const found = measureStructure(sources, outside);
  row('TypeScript files in src', found.files, STRUCTURE_LIMITS.files);
  row('median lines of a file', found.medianLines, STRUCTURE_LIMITS.medianLines);
  row('median lines of substance of a file', found.medianSubstance, STRUCTURE_LIMITS.medianSubstance);
  row('files with fewer than 15 lines of substance', found.small.length, STRUCTURE_LIMITS.small);
  row('folders with more than 24 files', found.crowded.length, 0, found.crowded);
  row('sub-folders that import each other', found.mutual.length, 0, found.mutual);
  row('exported types that no other file imports', found.unsharedTypes.length, 0, found.unsharedTypes);
  const entered = measureRequestFiles();
  const limits = requestFileLimits(sources);
  row('files that a cache hit enters', entered.hit.length, limits.hit, paths ? entered.hit : []);
  row('files that a validated cache miss enters', entered.miss.length, limits.miss, paths ? entered.miss : []);
}

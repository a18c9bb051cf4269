import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { RequestFiles } from './request-files.ts';

/** A source file by its path under `src`. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/**
 * How many files of `src` a request may enter, for a cache hit and for a validated cache miss. `goals` are the numbers
 * to aim for, and `limits` those that the test enforces with today's number of stages: each further file in
 * `pipeline/stages` raises both by one.
 */
export const REQUEST_FILES = {
  goals: { hit: 30, miss: 60 },
  limits: { hit: 30, miss: 60 },
  stages: 12,
} as const;

/** Returns the limits for a tree of sources with all its stages. */
export function requestFileLimits(sources: readonly Pick<SourceFile, 'path'>[]): { hit: number; miss: number } {
  const added = sources.filter(({ path }) => path.startsWith('pipeline/stages/')).length - REQUEST_FILES.stages;
  return { hit: REQUEST_FILES.limits.hit + added, miss: REQUEST_FILES.limits.miss + added };
}

/** What can be counted about the layout of a tree of sources. */
export interface Structure {
  readonly files: number;
  /** Lines of the file in the middle when files are ordered by length. */
  readonly medianLines: number;
  /** Files with fewer than 15 lines of substance. */
  readonly small: readonly string[];
  /** Folders with more than 24 files of their own. */
  readonly crowded: readonly string[];
  /** Pairs of sub-folders of one folder that import each other. */
  readonly mutual: readonly string[];
  /** Exported types that no other file imports, as `path#Name`. */
  readonly unsharedTypes: readonly string[];
}

/** The limits of these counts. The other counts must be 0. */
export const STRUCTURE_LIMITS = { files: 440, medianLines: 70, small: 40 } as const;

const PACKAGE_ENTRY = 'portico.ts';
const MAX_SIBLINGS = 24;
const MIN_SUBSTANCE = 15;
const IMPORT = /(?:import|export)\s+(?:type\s+)?(?:\{([^}]*)\}|[\w*\s,{}]*?)\s*from\s*'(\.[^']+)'/g;
const EXPORTED_TYPE = /^export (?:interface|type) (\w+)/gm;

/** Counts what `test/architecture.test.ts` limits; `readers` are files outside of the tree that may import from it. */
export function measureStructure(files: readonly SourceFile[], readers: readonly SourceFile[] = []): Structure {
  const lengths = files.map(({ text }) => text.split('\n').length - 1).sort((a, b) => a - b);
  const siblings = Map.groupBy(files, ({ path }) => posix.dirname(path));
  const shared = new Set([...files, ...readers].flatMap(importedNames));
  return {
    files: files.length,
    medianLines: lengths[lengths.length >> 1] ?? 0,
    small: files.filter(({ text }) => linesOfSubstance(text) < MIN_SUBSTANCE).map(({ path }) => path),
    crowded: [...siblings]
      .filter(([, held]) => held.length > MAX_SIBLINGS)
      .map(([folder, held]) => `${folder}: ${held.length}`),
    mutual: mutualFolders(files),
    unsharedTypes: files.flatMap(({ path, text }) =>
      // What the package exports is for programs outside of this repository.
      path === PACKAGE_ENTRY
        ? []
        : [...text.matchAll(EXPORTED_TYPE)].map((match) => `${path}#${match[1]}`).filter((name) => !shared.has(name)),
    ),
  };
}

/** Lines that are neither blank, nor a comment, nor an import. */
function linesOfSubstance(text: string): number {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^import [\s\S]*?;$/gm, '');
  return code.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length;
}

/** What a file imports by name from files of the tree, as `path#Name`. */
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

/** The path of an import under `src`, wherever the importing file is. */
function resolveImport(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier).replace(/^(?:\.\.\/)*src\//, '');
}

/** The relative imports of a file, as paths under `src`; paths that leave `src` start with `..`. */
export function importsOf(file: SourceFile): string[] {
  const specifiers = [...file.text.matchAll(/(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g)];
  return specifiers.map((match) => posix.join(posix.dirname(file.path), match[1] ?? ''));
}

/** Returns the pairs of sub-folders that import each other. */
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

/** Reads every TypeScript file below a folder, with paths that begin with the prefix. */
export function readSources(folder: string, prefix = ''): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
    .map((path) => ({ path: posix.join(prefix, path), text: readFileSync(join(folder, path), 'utf8') }));
}

/** Counts, in a process of its own, the files of `src` that a request passes through. */
export function measureRequestFiles(): RequestFiles {
  const program = join(import.meta.dirname, 'request-files.ts');
  return JSON.parse(execFileSync(process.execPath, [program], { encoding: 'utf8' })) as RequestFiles;
}

/** Prints one count with its limit and what it counts. Above the limit, a test fails, and so does this program. */
function row(name: string, value: number, limit: number, rest: readonly string[] = [], goal = limit): void {
  const allowed = limit === 0 ? 'none' : `at most ${limit}`;
  const text = goal === limit ? allowed : `${allowed}; the goal is ${goal}`;
  console.log(`${name.padEnd(44)} ${String(value).padStart(5)}   ${text}`);
  if (value > limit) process.exitCode = 1;
  for (const one of rest) console.log(`    ${one}`);
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const outside = ['test', 'tools', 'bench'].flatMap((folder) => readSources(join(root, folder), `../${folder}`));
  const sources = readSources(join(root, 'src'));
  const found = measureStructure(sources, outside);
  row('TypeScript files in src', found.files, STRUCTURE_LIMITS.files);
  row('median lines of a file', found.medianLines, STRUCTURE_LIMITS.medianLines);
  row('files with fewer than 15 lines of substance', found.small.length, STRUCTURE_LIMITS.small);
  row('folders with more than 24 files', found.crowded.length, 0, found.crowded);
  row('sub-folders that import each other', found.mutual.length, 0, found.mutual);
  row('exported types that no other file imports', found.unsharedTypes.length, 0, found.unsharedTypes);
  const entered = measureRequestFiles();
  // `-- --paths` lists the files too.
  const paths = process.argv.includes('--paths');
  const limits = requestFileLimits(sources);
  const { goals } = REQUEST_FILES;
  row('files that a cache hit enters', entered.hit.length, limits.hit, paths ? entered.hit : [], goals.hit);
  row(
    'files that a validated cache miss enters',
    entered.miss.length,
    limits.miss,
    paths ? entered.miss : [],
    goals.miss,
  );
}

import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readCommandLine } from './command-line.ts';

const HELP = `Lists the subfolders of src/ that import each other and the exported types that no other file uses. Exits
with 1 if it finds any.

Usage: npm run structure

  --help               Show this help.`;

/** A source file and its path under `src`. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Faults in the layout of a source tree. */
export interface Structure {
  /** Pairs of subfolders in one folder that import each other. */
  readonly mutual: readonly string[];
  /** Exported types that no other file imports, as `path#Name`. */
  readonly unsharedTypes: readonly string[];
}

const PACKAGE_ENTRY = 'portico.ts';
const IMPORT = /(?:import|export)\s+(?:type\s+)?(?:\{([^}]*)\}|[\w*\s,{}]*?)\s*from\s*'(\.[^']+)'/g;
const EXPORTED_TYPE = /^export (?:interface|type) (\w+)/gm;

/**
 * Finds the faults that `test/architecture.test.ts` rejects. `readers` are files outside the tree that may import from
 * the tree.
 */
export function measureStructure(files: readonly SourceFile[], readers: readonly SourceFile[] = []): Structure {
  const shared = new Set([...files, ...readers].flatMap(importedNames));
  return {
    mutual: mutualFolders(files),
    unsharedTypes: files.flatMap(({ path, text }) =>
      // The package's exports are used by programs outside this repository.
      path === PACKAGE_ENTRY
        ? []
        : [...text.matchAll(EXPORTED_TYPE)].map((match) => `${path}#${match[1]}`).filter((name) => !shared.has(name)),
    ),
  };
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

/** Prints the faults of one kind. If there are any, this program fails. */
function print(name: string, found: readonly string[]): void {
  console.log(`${name}: ${found.length === 0 ? 'none' : found.length}`);
  if (found.length > 0) process.exitCode = 1;
  for (const one of found) console.log(`    ${one}`);
}

if (import.meta.main) {
  readCommandLine(HELP, {});
  const root = join(import.meta.dirname, '..');
  const outside = ['test', 'tools', 'bench'].flatMap((folder) => readSources(join(root, folder), `../${folder}`));
  const found = measureStructure(readSources(join(root, 'src')), outside);
  print('subfolders that import each other', found.mutual);
  print('exported types that no other file imports', found.unsharedTypes);
}

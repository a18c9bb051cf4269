import { importsOf, type SourceFile } from '../../tools/structure.ts';

/**
 * The folders of the engine, from the lowest layer to the highest. A file may import from lower layers of the engine. The
 * files outside of its folders are above all of them.
 */
const ENGINE: readonly (readonly string[])[] = [
  ['privacy'],
  ['model'],
  ['errors', 'node-internals'],
  ['sharing'],
  ['contract'],
  ['scanner', 'identity', 'permissions', 'paging', 'cache', 'upstream', 'telemetry'],
  ['pipeline', 'config'],
  ['http'],
];

/** The entries of `src`, each with the entries from which it may import. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  engine: ['lib'],
  profile: ['lib', 'engine'],
  // What sampled responses tell about a contract, for the gateway's learning from traffic and for the workbench.
  learner: ['lib', 'engine'],
  // How the responses of two servers differ, for the gateway's mirror and for the workbench.
  comparison: ['lib', 'engine', 'learner'],
  features: ['lib', 'engine', 'learner', 'comparison'],
  workbench: ['lib', 'engine', 'learner', 'comparison', 'features'],
  reference: ['lib'],
  'features.ts': ['engine', 'features', 'profile'],
  'portico-settings.ts': ['engine', 'features.ts', 'profile'],
  'portico.ts': ['lib', 'engine', 'features', 'features.ts', 'portico-settings.ts'],
  cli: [
    'lib',
    'engine',
    'learner',
    'comparison',
    'profile',
    'features',
    'workbench',
    'reference',
    'features.ts',
    'portico-settings.ts',
  ],
};

// The files outside src that files in src may import.
const OUTSIDE: ReadonlySet<string> = new Set(['../package.json']);

const part = (path: string, at: number) => path.split('/')[at] ?? '';
const isFile = (name: string) => name.endsWith('.ts');
const layerOf = (path: string) =>
  isFile(part(path, 1)) ? ENGINE.length : ENGINE.findIndex((layer) => layer.includes(part(path, 1)));

/** Returns whether a file may import another one. */
function allowed(from: string, to: string): boolean {
  if (to.startsWith('..')) return OUTSIDE.has(to);
  const [entry, target] = [part(from, 0), part(to, 0)];
  if (entry !== target) return ENTRIES[entry]?.includes(target) === true;
  // A feature can be taken out, so no other feature may import it.
  if (entry === 'features') return part(from, 1) === part(to, 1);
  if (entry !== 'engine' || part(from, 1) === part(to, 1)) return true;
  const [low, high] = [layerOf(to), layerOf(from)];
  return low >= 0 && (low < high || isFile(part(from, 1)));
}

/** Returns every import that the layers do not permit, and every file that belongs to no layer. */
export function brokenImports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const isKnown = part(file.path, 0) === 'engine' ? layerOf(file.path) >= 0 : part(file.path, 0) in ENTRIES;
    if (!isKnown) return [`${file.path} is not in any layer`];
    return importsOf(file)
      .filter((to) => !allowed(file.path, to))
      .map((to) => `${file.path} → ${to}`);
  });
}

/**
 * Returns every file that other files can depend on without a relative import of it, or that depends on the list of
 * features in that way: files with ambient declarations or reference directives, and files that import this package by
 * its name.
 */
export function unseenTies(files: readonly SourceFile[]): string[] {
  const tie =
    /\bdeclare\s+(?:global|module)\b|^\s*\/\/\/\s*<reference|(?:from|import)\s*\(?\s*['"`](?:portico['"`/]|#)/m;
  return files.filter(({ text }) => tie.test(text)).map(({ path }) => path);
}

/** Returns every import cycle once, as a list of its files. */
export function importCycles(files: readonly SourceFile[]): string[] {
  const graph = new Map(files.map((file) => [file.path, importsOf(file)]));
  const cycles = new Set<string>();
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) {
      cycles.add(trail.slice(trail.indexOf(path)).sort().join(' ↔ '));
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return [...cycles];
}

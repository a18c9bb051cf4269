import { importsOf, type SourceFile } from '../../tools/structure.ts';

const FEATURES = [
  'contract',
  'scanner',
  'identity',
  'permissions',
  'paging',
  'cache',
  'upstream',
  'ledger',
  'report',
  'ladder',
  'learn',
  'telemetry',
  'overrides',
];

const LAYERS: readonly (readonly string[])[] = [
  ['lib'],
  ['privacy'],
  ['model'],
  ['errors', 'files'],
  ['redis', 'trail'],
  FEATURES,
  ['pipeline', 'config'],
  ['http', 'console', 'walk', 'audit'],
  ['engine'],
  ['profile'],
  ['profile.ts'],
  ['doctor'],
  ['assembly', 'features'],
  ['features.ts'],
  ['portico-settings.ts'],
  ['gateway.ts'],
  ['cli', 'portico.ts'],
];

// The files outside src that files in src may import.
const OUTSIDE: ReadonlySet<string> = new Set(['../package.json']);

const folder = (path: string) => path.split('/')[0] ?? path;
const layerOf = (path: string) => LAYERS.findIndex((folders) => folders.includes(folder(path)));

function allowed(from: string, to: string): boolean {
  if (to.startsWith('..')) return OUTSIDE.has(to);
  if (folder(from) === folder(to)) return true;
  if (folder(from) === 'reference') return folder(to) === 'lib';
  if (folder(to) === 'reference') return folder(from) === 'cli';
  return layerOf(to) >= 0 && layerOf(to) < layerOf(from);
}

/** Returns every import from a higher layer or from the same layer, and every file that belongs to no layer. */
export function brokenImports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    if (layerOf(file.path) < 0 && folder(file.path) !== 'reference') return [`${file.path} is not in any layer`];
    return importsOf(file)
      .filter((to) => !allowed(file.path, to))
      .map((to) => `${file.path} → ${to}`);
  });
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

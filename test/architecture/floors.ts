import { importsOf, type SourceFile } from '../../tools/structure.ts';

const FEATURES = [
  'contract',
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
  'gdpr',
  'comments',
];

const FLOORS: readonly (readonly string[])[] = [
  ['lib'],
  ['privacy'],
  ['model'],
  ['errors', 'files'],
  FEATURES,
  ['pipeline', 'config'],
  ['http', 'console', 'walk'],
  ['assembly'],
  ['gateway.ts'],
  ['cli', 'portico.ts'],
];

// What of the package itself sources may import.
const OUTSIDE: ReadonlySet<string> = new Set(['../package.json']);

const room = (path: string) => path.split('/')[0] ?? path;
const floorOf = (path: string) => FLOORS.findIndex((rooms) => rooms.includes(room(path)));

function allowed(from: string, to: string): boolean {
  if (to.startsWith('..')) return OUTSIDE.has(to);
  if (room(from) === room(to)) return true;
  if (room(from) === 'reference') return room(to) === 'lib';
  if (room(to) === 'reference') return room(from) === 'cli';
  return floorOf(to) >= 0 && floorOf(to) < floorOf(from);
}

/** Every import that goes up or sideways, and every file on no floor. */
export function brokenImports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    if (floorOf(file.path) < 0 && room(file.path) !== 'reference') return [`${file.path} is on no floor`];
    return importsOf(file)
      .filter((to) => !allowed(file.path, to))
      .map((to) => `${file.path} → ${to}`);
  });
}

/** Every cycle of imports, once, as the files on it. */
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

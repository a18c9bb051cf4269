import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

interface StaticFile {
  readonly mediaType: string;
  /** Returns the contents of the file, which is read from disk only once. */
  read(): Promise<Buffer>;
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The console's own files, as paths relative to `/console/`. */
const OWN = [
  'console.css',
  'icon.svg',
  'main.js',
  'lib/api.js',
  'lib/chart.js',
  'lib/confirm.js',
  'lib/format.js',
  'lib/html.js',
  'lib/keep-focus.js',
  'lib/operation-links.js',
  'lib/poll.js',
  'lib/route.js',
  'lib/table.js',
  'lib/trouble.js',
  'pages/cache.js',
  'pages/configuration.js',
  'pages/fleet.js',
  'pages/ladder.js',
  'pages/overrides.js',
  'pages/permissions.js',
  'pages/traffic.js',
  'pages/upstream.js',
  'pages/violation.js',
  'pages/violations.js',
  'reference/reference.css',
  'reference/main.js',
  'reference/code.js',
  'reference/filter.js',
  'reference/operation.js',
  'reference/prose.js',
  'reference/sample.js',
  'reference/schema-values.js',
  'reference/schema.js',
  'reference/try.js',
];

/**
 * Files from packages. Each entry contains the path under `/console/`, the package's name, and the name of a file in
 * the folder of the package's entry point.
 */
const VENDORED = [
  ['vendor/preact.js', 'preact', 'preact.mjs'],
  ['vendor/hooks.js', 'preact/hooks', 'hooks.mjs'],
  ['vendor/htm.js', 'htm', 'htm.mjs'],
  ['vendor/uplot.js', 'uplot', 'uPlot.esm.js'],
  ['vendor/uplot.css', 'uplot', 'uPlot.min.css'],
] as const;

/**
 * Returns all files that the console serves, by URL path. `/` is the console, and `/reference` is the API docs. No
 * other files are ever read, so requests cannot reach arbitrary paths on disk.
 */
export function staticFiles(): ReadonlyMap<string, StaticFile> {
  const require = createRequire(import.meta.url);
  return new Map([
    ['/', fileAt(own('index.html'), 'html')],
    ['/reference', fileAt(own('reference/index.html'), 'html')],
    ...OWN.map((name) => [`/${name}`, fileAt(own(name), name)] as const),
    ...VENDORED.map(([path, name, file]) => {
      return [`/${path}`, fileAt(join(dirname(require.resolve(name)), file), path, forBrowsers)] as const;
    }),
  ]);
}

const own = (name: string) => join(import.meta.dirname, 'public', name);

function fileAt(path: string, name: string, convert: (text: string) => string = (text) => text): StaticFile {
  let bytes: Promise<Buffer> | undefined;
  const load = async () => Buffer.from(convert(await readFile(path, 'utf8')));
  return {
    mediaType: TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    read: () => (bytes ??= load()),
  };
}

// Rewrites imports, because browsers cannot resolve package names. An import map would have to be an inline script,
// which is forbidden.
function forBrowsers(text: string): string {
  return text.replaceAll(/from"preact"/g, 'from"./preact.js"').replaceAll(/^\/\/# sourceMappingURL=.*$/gm, '');
}
